public import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why a file could not be read or written: what the system said about which path.
public struct FileFailure: Error, Sendable, Hashable {
    /// The file, or the folder, that it is about.
    public var path: String
    /// The system's error number, such as `ENOSPC`.
    public var errorNumber: Int32
    /// What did not work, such as "cannot be written".
    public var problem: String

    /// Makes a failure.
    public init(path: String, errorNumber: Int32, problem: String) {
        self.path = path
        self.errorNumber = errorNumber
        self.problem = problem
    }
}

extension FileFailure: LocalizedError, CustomStringConvertible {
    /// One sentence with the path, the problem and the system's message for the error number.
    public var description: String { "\(path) \(problem): \(String(cString: strerror(errorNumber)))." }
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// Calls of the system.
package enum SystemCall {
    /// A call that is made again when a signal interrupted it.
    package static func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
