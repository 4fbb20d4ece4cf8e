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

    /// What happens when there is a file at the destination already. The default is `.replace`, as with `curl -o`, and as
    /// Foundation writes files.
    public var existingFile = ExistingFile.replace
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

    /// The defaults.
    public init() {}

    /// The defaults, changed by a function.
    public init(_ configure: (inout DownloadOptions) -> Void) {
        configure(&self)
    }
}
