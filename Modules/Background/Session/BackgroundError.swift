public import FoundationEssentials
internal import LinnetSerialization
public import LinnetSession

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The error of a background session, or of one of its tasks.
///
/// The error of a task is stored with it, so another process reads the same code and message; `underlying` is nil
/// there.
public struct BackgroundError: Error, Sendable {
    /// The kind of failure.
    public var code: Code
    /// A message of one line for people.
    public var message: String
    /// The code of the session's error, for ``Code/transferFailed``.
    public var sessionCode: SessionError.Code?
    /// The underlying error, if it happened in this process.
    public var underlying: (any Error)?

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, sessionCode: SessionError.Code? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.sessionCode = sessionCode
        self.underlying = underlying
    }
}

extension BackgroundError: CustomStringConvertible, LocalizedError {
    /// The message with the code.
    public var description: String {
        let sentence = message.hasSuffix(".") ? String(message.dropLast()) : message
        return "\(sentence) (\(code))."
    }
    /// The message, for display to the user.
    public var errorDescription: String? { message }
}

extension BackgroundError {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, Codable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Decodes the name of a code. An unknown name is a code of its own.
        public init(from decoder: any Decoder) throws {
            description = try decoder.singleValueContainer().decode(String.self)
        }

        /// Encodes the name.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }

        // MARK: Opening a session

        /// The identifier cannot be the name of a directory, or the directory of the session is unknown.
        public static let invalidIdentifier = Code("invalidIdentifier")
        /// The directory belongs to another user, can be written by others, or is a symbolic link.
        public static let untrustedDirectory = Code("untrustedDirectory")
        /// A newer version of the library wrote the journal, or made the tables of a store. They are left unchanged.
        public static let newerJournal = Code("newerJournal")
        /// The journal was damaged when it was opened; see ``BackgroundSession/journalDamage``.
        public static let damagedJournal = Code("damagedJournal")
        /// The directory, the journal or the store cannot be read or written.
        public static let storageFailed = Code("storageFailed")
        /// The session was shut down.
        public static let shutDown = Code("shutDown")
        /// Another worker has the directory.
        public static let directoryInUse = Code("directoryInUse")

        // MARK: Stores

        /// The server of a store cannot be reached, or has ended the connection.
        public static let storeUnavailable = Code("storeUnavailable")
        /// The lease has ended, and the transfer may be another worker's; see ``TransferStore/end(_:with:)``.
        public static let leaseLost = Code("leaseLost")

        // MARK: Adding a task

        /// The request cannot be made or stored: its URL is invalid, or its body is neither empty nor small data.
        public static let invalidRequest = Code("invalidRequest")
        /// The request has a credential, which would be stored. See ``TransferOptions/storesSecrets``.
        public static let credentialRefused = Code("credentialRefused")
        /// The destination is not a file URL, is a folder, or an option does not allow its use.
        public static let invalidDestination = Code("invalidDestination")
        /// An unfinished task of the session has the same destination.
        public static let destinationTaken = Code("destinationTaken")
        /// The options contradict themselves, for example because a digest is not one.
        public static let invalidOptions = Code("invalidOptions")
        /// There is no task with the identifier.
        public static let noSuchTask = Code("noSuchTask")

        // MARK: The end of a task

        /// The transfer failed; ``BackgroundError/sessionCode`` tells how.
        public static let transferFailed = Code("transferFailed")
        /// The file of an upload is missing, unreadable, or not the file that was accepted.
        public static let sourceChanged = Code("sourceChanged")
        /// The downloaded bytes do not have the expected size.
        public static let sizeMismatch = Code("sizeMismatch")
        /// The downloaded bytes do not have the expected digest, or not the server's (`Repr-Digest`, RFC 9530).
        public static let digestMismatch = Code("digestMismatch")
        /// The file cannot be written to its destination.
        public static let fileFailed = Code("fileFailed")
        /// The credential that the task names could not be looked up; see
        /// ``BackgroundSession/Configuration/credential``.
        public static let credentialUnavailable = Code("credentialUnavailable")
        /// The disk, or the user's quota, is full.
        public static let diskFull = Code("diskFull")
        /// The task was not complete before its expiry.
        public static let expired = Code("expired")
        /// The upload was interrupted more often than it may be created again.
        public static let interrupted = Code("interrupted")
        /// The task of the caller was cancelled.
        public static let cancelled = Code("cancelled")
    }
}

extension BackgroundError {
    package static func storage(_ error: any Error) -> BackgroundError {
        switch error {
        case let error as BackgroundError: error
        case is CancellationError: BackgroundError(.cancelled, "The task of the caller was cancelled.")
        default: BackgroundError(.storageFailed, "The journal cannot be used: \(error)", underlying: error)
        }
    }

    static func failedCall(_ path: String, _ problem: String, _ number: Int32 = errno) -> BackgroundError {
        let failure = FileFailure(path: path, errorNumber: number, problem: problem)
        return BackgroundError(.storageFailed, "\(failure)", underlying: failure)
    }

    static func noSuchTask(_ id: BackgroundTask.ID) -> BackgroundError {
        BackgroundError(.noSuchTask, "There is no task \(id).")
    }

    package static func leaseLost(_ id: String) -> BackgroundError {
        BackgroundError(.leaseLost, "The lease of the transfer \"\(id)\" has ended, so its result does not count.")
    }

    static let bodyOfUpload = BackgroundError(
        .invalidRequest, "The request of an upload has the file as its body, and no other.")

    package static let shutDown = BackgroundError(.shutDown, "The background session was shut down.")

    /// The error of a task for the error of its request.
    init(_ error: SessionError) {
        let isOfFile = error.code == .fileFailed
        let code = error.fileFailure.map { Code(ofFile: $0.errorNumber) } ?? .fileFailed
        self.init(
            isOfFile || code == .diskFull ? code : .transferFailed, error.message, sessionCode: error.code,
            underlying: error)
    }
}

extension BackgroundError.Code {
    /// The code of a file that could not be written, for the system's error number.
    init(ofFile errorNumber: Int32) { self = [ENOSPC, EDQUOT].contains(errorNumber) ? .diskFull : .fileFailed }
}
