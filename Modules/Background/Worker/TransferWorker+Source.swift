public import FoundationEssentials

extension TransferWorker {
    /// The file that a worker sends for an upload.
    public struct Source: Sendable {
        let file: URL
        /// Whether the file is removed when the attempt has ended.
        let isTemporary: Bool

        /// A file, which must stay as it is until the attempt has ended. Symbolic links are followed.
        public static func file(_ url: URL) -> Source { Source(file: url, isTemporary: false) }

        /// A file below a folder.
        ///
        /// - Parameters:
        ///   - name: A relative path. Symbolic links in it are followed.
        ///   - folder: The folder.
        /// - Throws: ``BackgroundError/Code/sourceChanged`` if the name is absolute, is empty, ends with a separator,
        ///   or has `.`, `..` or an empty name between separators.
        public static func file(_ name: String, in folder: URL) throws(BackgroundError) -> Source {
            guard let url = folder.file(named: name) else {
                throw BackgroundError(.sourceChanged, "\"\(name)\" does not name a file below a folder.")
            }
            return .file(url)
        }

        /// A file that was made for the attempt, for example from an object. It is removed when the attempt has ended.
        public static func temporaryFile(_ url: URL) -> Source { Source(file: url, isTemporary: true) }
    }
}

extension URL {
    /// The file below this folder that a relative path names; nil if the path leaves the folder, or names none.
    func file(named name: String) -> URL? {
        let names = name.split(separator: "/", omittingEmptySubsequences: false)
        guard !name.utf8.contains(0), names.allSatisfy({ !["", ".", ".."].contains($0) }) else { return nil }
        return names.reduce(self) { $0.appending(component: String($1)) }
    }
}
