internal import Glibc

/// Why the state of the network could not be read.
public struct ReachabilityError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// No netlink socket could be opened: the descriptors are used up, or a sandbox forbids the family.
        public static let socketFailed = Code("socketFailed")
        /// The kernel refused to list links, addresses or routes.
        public static let queryFailed = Code("queryFailed")
        /// The kernel did not answer in time.
        public static let timeout = Code("timeout")
        /// The answer is not RTNETLINK.
        public static let malformedMessage = Code("malformedMessage")
        /// The monitoring thread could not be started.
        public static let threadFailed = Code("threadFailed")
    }

    /// What kind of failure it was.
    public let code: Code
    /// One line that a person can act on.
    public let message: String
    /// The system's error number (`errno`), where a system call failed.
    public let errorNumber: Int32?

    /// The code and the message in one line.
    public var description: String { "\(code): \(message)" }

    init(_ code: Code, _ message: String, errorNumber: Int32? = nil) {
        self.code = code
        self.errorNumber = errorNumber
        if let errorNumber, let text = strerror(errorNumber) {
            self.message = "\(message): \(String(cString: text))"
        } else {
            self.message = message
        }
    }
}
