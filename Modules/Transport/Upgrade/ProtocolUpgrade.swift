package import HTTPTypes
package import NIOCore

/// A protocol that a request asks its HTTP/1.1 connection to switch to (RFC 9110, section 7.8).
package final class ProtocolUpgrade: Sendable {
    /// Makes the connection one of the new protocol: checks the response with 101, adds the handlers to the end of the
    /// channel's pipeline, and returns the owner of the connection.
    ///
    /// Called on the event loop. The bytes that follow the response are passed to the handlers right after it. The channel does
    /// not read on its own: the handlers ask for each read.
    package typealias Start = @Sendable (any Channel, HTTPResponse) throws(TransportError) -> any AnyObject & Sendable

    /// The name in the Upgrade field.
    let name: String
    let start: Start

    package init(to name: String, start: @escaping Start) {
        self.name = name
        self.start = start
    }

    /// Whether a response with 101 switches to the protocol, and to no other.
    func isNamed(by head: HTTPResponse) -> Bool {
        head.headerFields[values: .upgrade].count == 1
            && head.headerFields[.upgrade]?.lowercased() == name.lowercased()
    }
}

/// A connection that has switched from HTTP/1.1 to another protocol, and has left the pool.
package struct UpgradedConnection: Sendable {
    /// What ``ProtocolUpgrade/Start`` returned: when it is released, it closes the connection.
    package let owner: any AnyObject & Sendable
    let channel: any Channel
}
