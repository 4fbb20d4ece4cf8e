internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension TransportError {
    /// An error from opening a socket.
    init(connecting error: any Error, to origin: Origin) {
        let place = origin.description
        switch error {
        case let error as TransportError:
            self = error
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            let cause = error.dnsAAAAError ?? error.dnsAError
            self.init(
                .nameResolutionFailed, (cause as? TransportError)?.message ?? "\"\(origin.host)\" has no address.",
                underlying: cause)
        case let error as NIOConnectionError:
            let reasons = Set(error.connectionErrors.map { Self.reason($0.error) }).sorted().joined(separator: "; ")
            self.init(.connectionFailed, "No connection to \(place): \(reasons).", underlying: error)
        case ChannelError.connectTimeout:
            self.init(.connectTimeout, "\(place) did not answer in time.", underlying: error)
        default:
            self.init(.connectionFailed, "No connection to \(place): \(Self.reason(error)).", underlying: error)
        }
        endpoint = place
    }

    /// The error with where the request went.
    func at(_ origin: Origin) -> TransportError {
        var error = self
        error.endpoint = endpoint ?? origin.description
        return error
    }

    /// Whether the next try to open a connection may do better: the server ended this one before it could be used. A
    /// refused connection, a TLS alert or a verdict on the server's chain are answers.
    var mayPass: Bool {
        if code == .connectionClosed { return true }
        let causes =
            (underlying as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [underlying].compactMap { $0 }
        return code == .connectionFailed && causes.contains { ($0 as? IOError)?.errnoCode == ECONNRESET }
    }

    /// What the system says, without NIO's words around it.
    static func reason(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }
}
