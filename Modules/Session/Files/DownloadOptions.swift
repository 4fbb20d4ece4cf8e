public import FoundationEssentials
public import LinnetSerialization

/// How a download becomes a file.
///
/// ```swift
/// let response = try await session.download(for: request, to: url, options: .init { $0.existingFile = .keepBoth })
/// ```
public struct DownloadOptions: Sendable, Hashable {
    /// What happens when there is a file at the destination already.
    public struct ExistingFile: Sendable, Hashable {
        enum Choice: Sendable, Hashable {
            case replace, fail, keepBoth
        }

        let choice: Choice

        /// The new file takes its place, at once, when it is complete; whoever has the old one open keeps it.
        public static let replace = ExistingFile(choice: .replace)
        /// The download fails with ``SessionError/Code/fileFailed``: before anything is sent, or at its end when the file
        /// came in between.
        public static let fail = ExistingFile(choice: .fail)
        /// The new file gets a number behind its name, before its extension: `report (1).pdf`.
        public static let keepBoth = ExistingFile(choice: .keepBoth)
    }

    /// What happens when there is a file at the destination already. The default is nil: `.replace` for a place that the app
    /// names, as with `curl -o`, and `.keepBoth` for a name that the server suggests, who has no say in which file goes.
    public var existingFile: ExistingFile?
    /// Whether folders that are missing on the way to the destination are made; they stay when the download fails later.
    /// The default is false: a missing folder fails before anything is sent.
    public var createsDirectories = false
    /// The file's permissions, such as 0o600. The default is nil: 0o666 without what the process masks.
    public var permissions: UInt16?
    /// Whether the file, and its name, are on the disk when the download returns, so that both survive a loss of power. The
    /// default is false: the system writes them out in its own time.
    public var synchronizes = false
    /// Which responses become a file. The default accepts the statuses 200 to 299 and any content type.
    public var validation = ResponseValidation()

    /// Whether the part that is there stays when the download fails, so that it can go on later: the error then has
    /// ``SessionError/resumeData``, where the server gave it a strong validator and knows ranges. The default is false: the
    /// part is removed by every failure.
    public var keepsPart = false
    /// A file for the resume data, kept up to date while the download runs, so that it survives the end of the process,
    /// `kill -9` too; read it with ``ResumeData/init(contentsOf:)``. It is removed at the download's success, and stays after
    /// a failure, as with ``keepsPart``. The default is nil: nothing is written, and nothing hashed.
    ///
    /// It is replaced at once by renaming, after the bytes that it speaks of were handed to the system, and never with an
    /// `fsync`: a loss of power can leave it ahead of the part, which is found out by the digest.
    public var resumeFile: URL?
    /// The shortest time between two writings of ``resumeFile``; it is written with the first bytes, then as more come. The
    /// default is one second.
    public var resumeInterval: Duration = .seconds(1)

    /// The defaults.
    public init() {}

    /// The defaults, changed by a function.
    public init(_ configure: (inout DownloadOptions) -> Void) {
        configure(&self)
    }
}
