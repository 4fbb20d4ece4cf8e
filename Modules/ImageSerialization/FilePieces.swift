internal import FoundationEssentials

/// A file made of parts of another one. Long parts are not copied: they share its memory.
struct FilePieces {
    /// The number of bytes from which on a part is not copied. Shorter ones are joined, so that there are few pieces.
    private static let leastShared = 4096

    private let source: Data
    private(set) var pieces: [Data] = []
    /// Whether the last piece is a copy, to which bytes can be added.
    private var endsWithCopy = false

    init(of source: Data) {
        self.source = source
    }

    /// Appends a part of the other file.
    ///
    /// - Parameter part: The offsets of its bytes.
    mutating func append(_ part: Range<Int>) {
        let bytes = source[(source.startIndex + part.lowerBound)..<(source.startIndex + part.upperBound)]
        guard bytes.count >= Self.leastShared else { return append(copying: bytes) }
        pieces.append(bytes)
        endsWithCopy = false
    }

    /// Appends other bytes.
    mutating func append(copying bytes: some Sequence<UInt8>) {
        if endsWithCopy { pieces[pieces.count - 1].append(contentsOf: bytes) } else { pieces.append(Data(bytes)) }
        endsWithCopy = true
    }
}
