public import FoundationEssentials
public import LinnetSerialization

/// Options for how a download is written to a file.
///
/// ```swift
/// let response = try await session.call(request).download(to: url, options: .init { $0.existingFile = .keepBoth })
/// ```
public struct DownloadOptions: Sendable, Hashable {
    /// What happens when there is a file at the destination already.
    public struct ExistingFile: Sendable, Hashable {
        enum Choice: Sendable, Hashable {
            case replace, fail, keepBoth
        }

        let choice: Choice

        /// The new file replaces it atomically when it is complete; processes that have the old file open keep it.
        public static let replace = ExistingFile(choice: .replace)
        /// The download fails with ``SessionError/Code/fileFailed``: before anything is sent, or at its end when the file was
        /// created in between.
        public static let fail = ExistingFile(choice: .fail)
        /// A number is added to the new file's name, before its extension: `report (1).pdf`.
        public static let keepBoth = ExistingFile(choice: .keepBoth)
    }

    /// What happens when there is a file at the destination already. The default is nil: `.replace` for a path that the app
    /// names, as with `curl -o`, and `.keepBoth` for a name that the server suggests, so that a server cannot replace files.
    public var existingFile: ExistingFile?
    /// Whether missing folders in the destination's path are created; they stay when the download fails later. The default is
    /// false: a missing folder fails before anything is sent.
    public var createsDirectories = false
    /// The file's permissions, such as 0o600. The default is nil: 0o666, reduced by the process's umask.
    public var permissions: UInt16?
    /// Whether the file and its name are synchronized to the disk before the download returns, so that both survive a loss of
    /// power. The default is false.
    public var synchronizes = false
    /// The validation of responses before they are written. The default accepts the statuses 200 to 299 and any content type.
    public var validation = ResponseValidation()

    /// Whether the part is kept when the download fails, so that it can resume later: the error then has
    /// ``SessionError/resumeData``, if the server sent a strong validator and supports ranges. The default is false: every
    /// failure removes the part.
    public var keepsPart = false
    /// A file for the resume data, kept up to date while the download runs, so that it survives the end of the process, `kill
    /// -9` too; read it with ``ResumeData/init(contentsOf:)``. It is removed at the download's success, and kept after a
    /// failure, as with ``keepsPart``. The default is nil: nothing is written or hashed.
    ///
    /// It is replaced atomically by renaming, after the bytes that it describes were written, but without `fsync`: a loss of
    /// power can leave it ahead of the part, which the digest detects.
    public var resumeFile: URL?
    /// The minimum interval between two writes of ``resumeFile``; it is written with the first bytes, then as more arrive. The
    /// default is one second.
    public var resumeInterval: Duration = .seconds(1)

    /// The defaults.
    public init() {}

    /// The defaults, changed by a function.
    public init(_ configure: (inout DownloadOptions) -> Void) {
        configure(&self)
    }
}
