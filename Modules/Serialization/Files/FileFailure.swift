public import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file operation that failed, with the path and the system's error number.
public struct FileFailure: Error, Sendable, Hashable {
    /// The path of the file or directory.
    public var path: String
    /// The system's error number, such as `ENOSPC`.
    public var errorNumber: Int32
    /// The failed operation, such as "cannot be written".
    public var problem: String

    /// Creates a failure.
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

/// Helpers for system calls.
package enum SystemCall {
    /// Repeats a call while a signal interrupts it.
    package static func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    /// Writes all bytes, in several calls if necessary.
    ///
    /// - Parameter offset: The place in the file; nil for the place of the descriptor, which then moves on.
    /// - Returns: The error number of a failure, after which the first bytes may be written; nil if all are.
    package static func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, at offset: Int? = nil) -> Int32? {
        var rest = bytes
        while !rest.isEmpty {
            let place = offset.map { off_t($0 + bytes.count - rest.count) }
            let count = rest.withUnsafeBytes { part in
                retrying {
                    guard let place else { return write(descriptor, part.baseAddress, part.count) }
                    return pwrite(descriptor, part.baseAddress, part.count, place)
                }
            }
            guard count > 0 else { return count < 0 ? errno : EIO }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}
