public import FoundationEssentials
public import LinnetJSON
internal import LinnetSerialization
internal import LinnetSession

extension HAR {
    /// The limits on a document that is read.
    public struct Limits: Sendable, Hashable {
        /// The largest size of the text, in bytes. The default is 256 MiB. Exceeding it is ``HARError/Code/tooLarge``.
        public var maximumSize = 256 << 20
        /// The largest number of entries. The default is 100,000. Exceeding it is ``HARError/Code/tooLarge``.
        public var maximumEntries = 100_000
        /// The largest number of bytes of memory for the parsed text, as `JSONValue.ParsingOptions.maximumMemory`
        /// estimates it. The default is 1 GiB. Exceeding it is ``HARError/Code/tooLarge``.
        public var maximumMemory = 1 << 30

        /// Creates the default limits.
        public init() {}

        /// Creates limits that a function sets.
        public init(_ configure: (inout Limits) throws -> Void) rethrows { try configure(&self) }
    }

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - text: JSON in UTF-8, with or without a byte order mark.
    ///   - limits: The limits. The defaults suit the export of a browser.
    /// - Throws: ``HARError`` with ``HARError/Code/tooLarge``, ``HARError/Code/invalidJSON``,
    ///   ``HARError/Code/missingField`` or ``HARError/Code/invalidValue``.
    public init(parsing text: Data, limits: Limits = Limits()) throws(HARError) {
        guard text.count <= limits.maximumSize else { throw .tooLarge(text.count, limits) }
        let tree: JSONValue
        do throws(JSONSyntaxError) {
            // An object whose names repeat is another document for every reader.
            tree = try JSONValue(
                parsing: text,
                options: JSONValue.ParsingOptions(
                    maximumDepth: 64, duplicateNames: .refused, maximumMemory: limits.maximumMemory))
        } catch {
            guard error.kind != .tooLarge else {
                throw HARError(.tooLarge, "The HAR needs more memory than the limit.", underlying: error)
            }
            throw HARError(.invalidJSON, "\(error)", underlying: error)
        }
        let log = try HARFields(tree, at: .root).fields("log")
        guard log.count("entries") <= limits.maximumEntries else {
            throw HARError(
                .tooLarge, "The HAR has more than \(limits.maximumEntries) entries.", place: "\(log.place("entries"))")
        }
        try self.init(log)
    }

    /// Reads a file, whose size is checked before. Blocks.
    ///
    /// - Parameters:
    ///   - file: The file, a regular one.
    ///   - limits: The limits. The defaults suit the export of a browser.
    /// - Throws: ``HARError`` with ``HARError/Code/unreadableFile``, or the codes of ``init(parsing:limits:)``.
    public init(contentsOf file: URL, limits: Limits = Limits()) throws(HARError) {
        var (text, tooLarge) = (Data(), Int64?.none)
        do throws(SerializationError) {
            let body = try BodyFile(file)
            if body.size <= Int64(limits.maximumSize) {
                let open = try body.open()
                text.reserveCapacity(Int(body.size))
                while case let piece = try open.piece(at: Int64(text.count)), !piece.isEmpty { text.append(piece) }
            } else {
                tooLarge = body.size
            }
        } catch {
            throw HARError(.unreadableFile, error.message, underlying: error.underlying ?? error)
        }
        if let tooLarge { throw .tooLarge(Int(tooLarge), limits) }
        try self.init(parsing: text, limits: limits)
    }

    /// The document as JSON in UTF-8.
    ///
    /// - Parameter options: How the text is laid out. The default is one line.
    public func data(options: JSONValue.WritingOptions = JSONValue.WritingOptions()) -> Data {
        JSONValue.object(["log": .object(object)]).data(options: options)
    }

    /// Writes the document to a file that only its owner can read. A file with this name is replaced as a whole, or
    /// unchanged if writing fails. Blocks.
    ///
    /// - Parameters:
    ///   - file: The file, in a folder that exists.
    ///   - options: How the text is laid out. The default is one line.
    /// - Throws: ``HARError`` with ``HARError/Code/unwritableFile``.
    public func write(
        to file: URL, options: JSONValue.WritingOptions = JSONValue.WritingOptions()
    ) throws(HARError) {
        guard file.isFileURL else { throw HARError(.unwritableFile, "\(file.absoluteString) is not a file URL.") }
        do throws(FileFailure) {
            try SideFile.replace(file.absoluteURL.path(percentEncoded: false), with: data(options: options))
        } catch {
            throw HARError(.unwritableFile, "\(error)", underlying: error)
        }
    }
}

extension HARError {
    fileprivate static func tooLarge(_ size: Int, _ limits: HAR.Limits) -> HARError {
        HARError(
            .tooLarge, "The HAR has \(size) bytes, which is more than its limit of \(limits.maximumSize) bytes.")
    }
}
