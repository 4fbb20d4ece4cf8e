import HTTPTypes
import NIOCore

extension HTTPFields {
    /// The fields that concern a connection, not a message (RFC 9110, section 7.6.1).
    private static let ofConnections: Set<HTTPField.Name> = Set(
        [.connection, .proxyAuthenticate, .proxyAuthorization, .te, .trailer, .transferEncoding, .upgrade]
            + ["Keep-Alive", "Proxy-Connection", "HTTP2-Settings"].compactMap { HTTPField.Name($0) })
    /// The fields of a request that the client to the upstream or the gateway writes itself.
    private static let ofRequests: Set<HTTPField.Name> = ofConnections.union(
        [.contentLength, .expect, .traceparent, .tracestate, Deadline.fieldName]
            + ["Baggage"].compactMap { HTTPField.Name($0) })
    private static let forwardedFor = HTTPField.Name("X-Forwarded-For") ?? .via

    /// The fields of a client's request for the upstream.
    func forwarded(from client: SocketAddress?, timeout: Duration) -> HTTPFields {
        var fields = without(Self.ofRequests, spare: 3)
        fields.append(HTTPField(name: .via, value: "1.1 linnet-gateway"))
        fields.append(HTTPField(name: Self.forwardedFor, value: client?.ipAddress ?? "unknown"))
        let milliseconds = Swift.max(1, Int64(timeout / .milliseconds(1)))
        fields.append(HTTPField(name: Deadline.fieldName, value: String(milliseconds)))
        return fields
    }

    /// The fields of the upstream's response for the client.
    func answered() -> HTTPFields { without(Self.ofConnections, spare: 1) }

    /// Returns the fields, except for `names` and for the fields that a Connection field names.
    private func without(_ names: Set<HTTPField.Name>, spare: Int) -> HTTPFields {
        var removed = names
        for field in self where field.name == .connection {
            let names = field.value.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
            removed.formUnion(names.compactMap { HTTPField.Name(String(Substring($0))) })
        }
        var fields = HTTPFields()
        fields.reserveCapacity(count + spare)
        for field in self where !removed.contains(field.name) { fields.append(field) }
        return fields
    }
}
