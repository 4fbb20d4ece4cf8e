public import FoundationEssentials
public import LinnetSerialization

/// Options for writing a download to a file.
///
/// ```swift
/// let response = try await session.call(request).download(to: url, options: .init { $0.existingFile = .keepBoth })
/// ```
public struct DownloadOptions: Sendable, Hashable {
    /// The treatment of a file that exists at the destination.
    public struct ExistingFile: Sendable, Hashable {
        enum Choice: Sendable, Hashable {
            case replace, fail, keepBoth
        }

        let choice: Choice

        /// The new file replaces it atomically when it is complete; processes that have the old file open keep it.
        public static let replace = ExistingFile(choice: .replace)
        /// The download fails with ``SessionError/Code/fileFailed``: before anything is sent, or at its end if the file
        /// was created meanwhile.
        public static let fail = ExistingFile(choice: .fail)
        /// A number is added to the new file's name, before its extension: `report (1).pdf`.
        public static let keepBoth = ExistingFile(choice: .keepBoth)
    }

    /// The treatment of a file that exists at the destination. The default is nil: `.replace` for a path that the app
    /// specifies, as with `curl -o`, and `.keepBoth` for a name that the server suggests, so that a server cannot
    /// replace files.
    public var existingFile: ExistingFile?
    /// Whether missing folders in the destination's path are created; they remain if the download fails later. The
    /// default is false: the download fails before the request is sent if the folder is missing.
    public var createsDirectories = false
    /// The file's permissions, such as 0o600. The default is nil: 0o666, reduced by the process's umask.
    public var permissions: UInt16?
    /// Whether the file and its folder are synchronized to the disk (`fsync`) before the download returns, so that both
    /// survive a power failure. The default is false.
    public var synchronizes = false
    /// The validation of responses before they are written. The default accepts the statuses 200 to 299 and any content
    /// type.
    public var validation = ResponseValidation()

    /// Whether the partial file is kept when the download fails, so that it can be resumed later: the error then has
    /// ``SessionError/resumeData``, if the server sent a strong validator and supports ranges. The bytes are then
    /// hashed as they are written. The default is false: the partial file is removed on every failure.
    public var keepsPart = false
    /// A file for the resume data, updated while the download runs, so that the data survives the end of the process,
    /// including `SIGKILL`; read it with ``ResumeData/init(contentsOf:)``. The file is removed when the download
    /// succeeds, and kept after a failure, as with ``keepsPart``. The default is nil: no such file is written.
    ///
    /// The file is replaced atomically by renaming, after the bytes that it describes were written, but without
    /// `fsync`. After a power failure it can describe more bytes than the partial file contains; the digest detects
    /// that.
    public var resumeFile: URL?
    /// The minimum interval between two writes of ``resumeFile``. The first write is with the first bytes. The default
    /// is one second.
    public var resumeInterval: Duration = .seconds(1)

    /// Whether room for all bytes is reserved before they are written, so that a download that does not fit fails at
    /// once. Without effect if the length is unknown.
    package var reservesRoom = false
    /// Whether ``resumeFile`` is written beside the download, which does not wait for it: the part is synchronized and
    /// digested on another thread. The resume data of a failed download can then have bytes that its digest does not
    /// cover; they count only in this process.
    package var makesCheckpoints = false
    /// Whether the name of the complete file is not synchronized to the disk, although ``synchronizes`` is set, because
    /// the caller moves the file again.
    package var leavesFolderUnsynchronized = false

    /// Creates the default options.
    public init() {}

    /// Creates the default options, modified by a function.
    public init(_ configure: (inout DownloadOptions) -> Void) {
        configure(&self)
    }
}
