internal import GRDB
public import LinnetCache
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension CacheError.Code {
    /// The directory of a cache belongs to another user, can be written by others, or is a symbolic link: another user
    /// could have written its contents.
    public static let untrustedDirectory = CacheError.Code("untrustedDirectory")
    /// The directory of a cache cannot be read or written; `CacheError.underlying` is the reason.
    public static let storageFailed = CacheError.Code("storageFailed")
    /// The response depends on credentials of the request (`Vary: Authorization`). Credentials are not stored on disk,
    /// so the response is not stored either.
    public static let dependsOnCredentials = CacheError.Code("dependsOnCredentials")
}

extension CacheError {
    static let dependsOnCredentials = CacheError(
        code: .dependsOnCredentials,
        message: "The response depends on credentials of the request, and is not stored on disk.")

    init(_ problem: PrivateFolder.Problem) {
        switch problem {
        case .untrusted(let message): self.init(code: .untrustedDirectory, message: message)
        case .failed(let failure): self.init(code: .storageFailed, message: "\(failure)", underlying: failure)
        }
    }

    static func readOnly(_ path: String) -> CacheError {
        failedCall(path, "cannot be changed", EROFS)
    }

    /// Whether the cause is a read-only directory.
    var isOfReadOnlyDirectory: Bool { (underlying as? FileFailure)?.errorNumber == EROFS }

    /// Whether the disk or the user's quota is full.
    var isOfFullDisk: Bool {
        switch underlying {
        case let failure as FileFailure: [ENOSPC, EDQUOT].contains(failure.errorNumber)
        case let error as DatabaseError: error.isOfFullDisk
        default: false
        }
    }

    static let cancelled = CacheError(
        code: .storageFailed, message: "The task that reads the cache was cancelled.", underlying: CancellationError())

    static func failedCall(_ path: String, _ problem: String, _ code: Int32 = errno) -> CacheError {
        let failure = FileFailure(path: path, errorNumber: code, problem: problem)
        return CacheError(code: .storageFailed, message: "\(failure)", underlying: failure)
    }
}

extension DatabaseError {
    /// Whether the disk has no space for the database, its log, or its shared memory.
    var isOfFullDisk: Bool { resultCode == .SQLITE_FULL || extendedResultCode == .SQLITE_IOERR_SHMSIZE }
}
