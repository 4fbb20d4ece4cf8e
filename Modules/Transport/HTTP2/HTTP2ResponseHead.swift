internal import HTTPTypes
internal import NIOHPACK

/// A field section that came from a server. NIO has checked its form: pseudo fields first and once, names in lower case,
/// nothing that belongs to a connection (RFC 9113, 8.2 and 8.3).
struct HTTP2ResponseHead {
    /// Nil in trailers.
    let status: Int?
    let fields: HTTPFields

    init(_ headers: HPACKHeaders, limits: TransportConfiguration.ResponseLimits) throws(TransportError) {
        // The status is no field.
        guard headers.count <= limits.headFields + 1 else {
            throw TransportError(.headTooLarge, "The response's head has more than \(limits.headFields) fields.")
        }
        var (status, bytes) = (nil as Int?, 0)
        var fields = HTTPFields()
        fields.reserveCapacity(headers.count)
        for (name, value, _) in headers {
            bytes += name.utf8.count + value.utf8.count
            if name.utf8.first == UInt8(ascii: ":") {
                status = try Self.status(value)
            } else if let name = HTTPField.Name(parsed: name) {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        guard bytes <= limits.headBytes else {
            throw TransportError(.headTooLarge, "The response's head has more than \(limits.headBytes) bytes.")
        }
        self.status = status
        self.fields = fields
    }

    private static func status(_ value: String) throws(TransportError) -> Int {
        guard value.utf8.count == 3, let status = Int(value), 100...999 ~= status else {
            throw TransportError(.invalidResponse, "The response's status is no number of three digits.")
        }
        return status
    }
}
