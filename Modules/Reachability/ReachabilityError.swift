public import FoundationEssentials
internal import Glibc

/// A failure to read the state of the network, or to wait for it.
public struct ReachabilityError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// A netlink socket could not be opened: no file descriptors are left, or a sandbox forbids the address family.
        /// In a sandbox, ``ReachabilityMonitor/Configuration/pollingInterval`` helps.
        public static let socketFailed = Code("socketFailed")
        /// The kernel refused to list links, addresses or routes.
        public static let queryFailed = Code("queryFailed")
        /// The kernel did not answer within five seconds.
        public static let timeout = Code("timeout")
        /// The kernel's response is not valid RTNETLINK.
        public static let malformedMessage = Code("malformedMessage")
        /// The monitoring thread could not be started.
        public static let threadFailed = Code("threadFailed")
        /// The text is not an IPv4 or IPv6 address.
        public static let invalidAddress = Code("invalidAddress")
        /// The destination did not become reachable in time.
        public static let notReachable = Code("notReachable")
        /// The monitor stopped during a wait.
        public static let stopped = Code("stopped")
        /// The task was cancelled during a wait.
        public static let cancelled = Code("cancelled")
    }

    /// The kind of the failure.
    public let code: Code
    /// The failure and its cause, in one sentence.
    public let message: String
    /// The system's error number (`errno`) when a system call failed.
    public let errorNumber: Int32?

    /// - Parameter failure: The failure, without a full stop.
    init(_ code: Code, _ failure: String, errorNumber: Int32? = nil) {
        self.code = code
        self.errorNumber = errorNumber
        let reason = errorNumber.flatMap { strerror($0) }.map { ": " + String(cString: $0) } ?? ""
        message = failure + reason + "."
    }
}

extension ReachabilityError {
    /// The error with another sentence in its message, without the full stop.
    func adding(_ sentence: String) -> ReachabilityError {
        ReachabilityError(code: code, message: "\(message) \(sentence).", errorNumber: errorNumber)
    }

    private init(code: Code, message: String, errorNumber: Int32?) {
        self.code = code
        self.message = message
        self.errorNumber = errorNumber
    }

    /// Whether the system lacks netlink, or forbids it.
    var meansNoNetlink: Bool {
        switch code {
        case .queryFailed: true
        case .socketFailed:
            errorNumber.map { [EAFNOSUPPORT, EPROTONOSUPPORT, EPERM, EACCES, ENOSYS].contains($0) } ?? false
        default: false
        }
    }
}

extension ReachabilityError: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }

    /// The message, which is also the error's `localizedDescription`.
    public var errorDescription: String? { message }
}
