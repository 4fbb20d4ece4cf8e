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

    /// What the system says, without NIO's words around it.
    static func reason(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }
}
