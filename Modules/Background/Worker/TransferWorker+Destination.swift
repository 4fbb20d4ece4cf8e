public import FoundationEssentials

extension TransferWorker {
    /// The place that a worker gives a complete download.
    public struct Destination: Sendable {
        /// The file; nil for an object.
        let file: URL?
        let put: (@Sendable (_ file: URL) async throws -> Void)?

        /// A file, which appears complete and checked, or not at all. Hidden files beside it have the part. Workers may
        /// share the folder.
        public static func file(_ url: URL) -> Destination { Destination(file: url, put: nil) }

        /// A file below a folder.
        ///
        /// - Parameters:
        ///   - name: A relative path. Symbolic links in it are followed.
        ///   - folder: The folder.
        /// - Throws: ``BackgroundError/Code/invalidDestination`` if the name is absolute, is empty, ends with a
        ///   separator, or has `.`, `..` or an empty name between separators.
        public static func file(_ name: String, in folder: URL) throws(BackgroundError) -> Destination {
            guard let url = folder.file(named: name) else {
                throw BackgroundError(.invalidDestination, "\"\(name)\" does not name a file below a folder.")
            }
            return .file(url)
        }

        /// An object, for example in a store of objects. The closure gets the complete and checked file, which is
        /// removed when the closure has returned, and the transfer completes after it. An error fails the attempt, the
        /// retry policy decides, and the download begins again.
        ///
        /// The closure can be called more than once for a transfer: when its worker ends before the store has noted the
        /// completion, and when a worker was away for longer than its lease. Putting an object must be repeatable.
        public static func object(_ put: @escaping @Sendable (_ file: URL) async throws -> Void) -> Destination {
            Destination(file: nil, put: put)
        }
    }
}
