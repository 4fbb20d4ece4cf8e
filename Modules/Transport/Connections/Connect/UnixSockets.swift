package import LinnetMessages
internal import NIOCore

/// The hosts with unix sockets for their connections.
struct UnixSockets: Sendable {
    /// A socket in the file system.
    struct Place: Sendable {
        let path: String
        let address: SocketAddress
    }

    private let places: [String: Place]

    /// Nil without sockets.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` for an invalid host, for a host with two sockets or with
    ///   an additional override of its addresses, and for a path that is empty, too long, or contains a null byte.
    init?(_ options: TransportConfiguration.Resolution) throws(TransportError) {
        guard !options.unixSockets.isEmpty else { return nil }
        let overridden = Set(options.hostOverrides.keys.compactMap(Self.key))
        var places: [String: Place] = [:]
        for (host, path) in options.unixSockets {
            guard let key = Self.key(host) else {
                throw TransportError(
                    .invalidConfiguration,
                    "\(host.debugDescription) is neither a name in ASCII nor an IP address, which a unix socket requires."
                )
            }
            guard !overridden.contains(key) else {
                throw TransportError(
                    .invalidConfiguration,
                    "The host \"\(host)\" has both a unix socket and an override of its addresses.")
            }
            guard places.updateValue(try Self.place(path, of: host), forKey: key) == nil else {
                throw TransportError(.invalidConfiguration, "There are two unix sockets for the host \"\(host)\".")
            }
        }
        self.places = places
    }

    /// The socket of an origin; nil if its connections are over the network.
    func place(of origin: Origin) -> Place? { places[Self.withoutDot(origin.host)] }

    /// The form for comparing hosts; nil for an invalid host.
    fileprivate static func key(_ host: String) -> String? {
        let authority = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return (try? Origin(isSecure: false, authority: authority)).map { withoutDot($0.host) }
    }

    fileprivate static func withoutDot(_ host: String) -> String {
        host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
    }

    private static func place(_ path: String, of host: String) throws(TransportError) -> Place {
        // C strings end at a null byte, so another socket would be used; in Linux, an empty path binds no name.
        guard !path.isEmpty, !path.utf8.contains(0), let address = try? SocketAddress(unixDomainSocketPath: path) else {
            throw TransportError(
                .invalidConfiguration,
                "The path of the unix socket of \"\(host)\" is empty, longer than 103 bytes, or contains a null byte.")
        }
        return Place(path: path, address: address)
    }
}

extension TransportConfiguration.Resolution {
    /// The path of the unix socket of an origin; nil if its connections are over the network.
    package func unixSocket(of origin: Origin) -> String? {
        guard !unixSockets.isEmpty else { return nil }
        let key = UnixSockets.withoutDot(origin.host)
        return unixSockets.first { UnixSockets.key($0.key) == key }?.value
    }
}
