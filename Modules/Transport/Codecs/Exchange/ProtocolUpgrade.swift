package import HTTPTypes
package import NIOCore

/// A protocol that a request asks its HTTP/1.1 connection to switch to (RFC 9110, section 7.8).
package final class ProtocolUpgrade: Sendable {
    /// Switches the connection to the new protocol: checks the response with 101, adds the handlers to the end of the
    /// channel's pipeline, and returns the owner of the connection.
    ///
    /// Called on the event loop. The bytes that follow the response are passed to the handlers right after it. The
    /// channel does not read on its own: the handlers ask for each read.
    package typealias Start = @Sendable (any Channel, HTTPResponse) throws(TransportError) -> any AnyObject & Sendable

    /// The name in the Upgrade field.
    let name: String
    let start: Start

    package init(to name: String, start: @escaping Start) {
        self.name = name
        self.start = start
    }

    /// The error for a response with 101 that does not switch to the protocol alone; nil if it does (RFC 9110, 7.8).
    func refusal(of head: HTTPResponse) -> TransportError? {
        guard head.headerFields[values: .upgrade].count == 1,
            head.headerFields[.upgrade]?.lowercased() == name.lowercased()
        else { return .otherProtocol(head) }
        let options = head.headerFields[values: .connection]
        guard options.contains(where: { $0.listMembers.contains("upgrade") }) else {
            return TransportError(
                .invalidResponse, "The server switched to \(name) without the field \"Connection: Upgrade\".")
        }
        return nil
    }
}

/// A connection that has switched from HTTP/1.1 to another protocol, and has left the pool.
package struct UpgradedConnection: Sendable {
    /// The result of ``ProtocolUpgrade/Start``. Releasing it closes the connection.
    package let owner: any AnyObject & Sendable
    let channel: any Channel
}
