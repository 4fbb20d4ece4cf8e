internal import FoundationEssentials

extension MIMEType {
    /// The media types of files by extension.
    ///
    /// ```swift
    /// var form = MultipartForm()
    /// form.mimeTypes["fastq"] = "text/x-fastq"
    /// try form.append(fileAt: URL(filePath: "/tmp/reads.fastq"), name: "reads")
    /// ```
    /// ``usual`` is the same on every machine; ``system`` includes the machine's own settings.
    public struct Table: Sendable, Hashable {
        private var types: [String: String]

        /// An empty table.
        public init() { types = [:] }

        private init(_ types: [String: String]) { self.types = types }

        /// The types of about 300 extensions, independent of the system.
        public static let usual = Table(usualTypes)

        /// The usual types and the types in `/etc/mime.types`, which take precedence and are read once. Without that
        /// file, the table equals ``usual``.
        public static let system: Table = {
            var table = usual
            if let file = try? Data(contentsOf: URL(filePath: "/etc/mime.types")) {
                table.merge(Table(mimeTypes: String(decoding: file, as: UTF8.self)))
            }
            return table
        }()

        /// Parses the text of a `mime.types` file: on each line a media type and its extensions. `#` begins a comment.
        /// Malformed lines are ignored; the first line of a repeated extension counts.
        public init(mimeTypes text: String) {
            types = [:]
            for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
                let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 == 0x20 || $0 == 0x09 }
                guard let type = words.first.flatMap({ String($0) }), words.count > 1, MIMEType(type) != nil else {
                    continue
                }
                for word in words.dropFirst().compactMap({ String($0)?.lowercased() }) where types[word] == nil {
                    types[word] = type
                }
            }
        }

        /// The number of extensions.
        public var count: Int { types.count }

        /// The media type of an extension without a dot, case-insensitive. Setting nil removes it.
        public subscript(pathExtension: String) -> String? {
            get { types[pathExtension.lowercased()] }
            set { types[pathExtension.lowercased()] = newValue }
        }

        /// Adds the types of another table, which win over existing ones.
        public mutating func merge(_ other: Table) { types.merge(other.types) { $1 } }

        /// The media type for a path extension; `application/octet-stream` if the table has none.
        public func type(forPathExtension pathExtension: String) -> String {
            self[pathExtension] ?? "application/octet-stream"
        }
    }
}
