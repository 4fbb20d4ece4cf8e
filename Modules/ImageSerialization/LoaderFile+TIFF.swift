internal import FoundationEssentials

extension LoaderFile {
    /// The compressions of TIFF 6.0 and its supplements: none, CCITT's, LZW, JPEG, deflate and PackBits.
    ///
    /// libtiff can support more, but their decoders allocate declared sizes.
    private static let compressions: Set<Int> = [1, 2, 3, 4, 5, 7, 8, 32_771, 32_773, 32_946]

    /// A file of the first directory with the tags that the pixels depend on, and of their strips or tiles.
    ///
    /// libtiff reads every tag of a directory, even if all refer to the same bytes, and reads a whole strip for each
    /// possible row of it.
    static func tiff(_ bytes: ImageBytes) throws(ImageError) -> LoaderFile {
        guard let directory = TIFFDirectory(bytes, start: 0) else { throw ImageError(endsEarly: .tiff) }
        let compression = directory.value(of: 259) ?? 1
        guard compressions.contains(compression) else {
            throw ImageError(
                code: .malformed,
                message: "The tiff image is compressed by method \(compression), which is not decoded.")
        }
        let pieces = try directory.pieces()
        if compression == 7 { try check(jpegs: pieces) }
        var writer = TIFFWriter(isBigEndian: directory.isBigEndian)
        for tag in TIFFWriter.numberTags {
            if let value = directory.value(of: tag) { writer.add(tag, values: [value]) }
        }
        for (tag, limit) in TIFFWriter.listTags where directory.has(tag) {
            guard let entry = directory.entry(of: tag) else { throw ImageError(endsEarly: .tiff) }
            guard entry.data.count <= limit else { throw ImageError(damaged: .tiff, "its tag \(tag) is too long") }
            writer.add(tag, type: entry.type, count: entry.count, entry.data)
        }
        // libtiff multiplies the colors with an unassociated alpha, and does not change them with an associated one.
        let samples = directory.values(of: 338, upTo: 1 << 16) ?? []
        if samples.first == 2 { writer.add(338, values: [1] + samples.dropFirst()) }
        let file = writer.file(pieces, isTiled: directory.isTiled)
        guard file.count <= bytes.count + maximumGrowth else {
            throw ImageError(damaged: .tiff, "its strips overlap")
        }
        var result = LoaderFile(.tiff, file)
        result.isPremultiplied = samples.first == 1
        return result
    }

    /// Only the sequential processes with Huffman coding are allowed (TIFF Technical Note 2), and a scan a component.
    private static func check(jpegs: [Data]) throws(ImageError) {
        for piece in jpegs {
            let segments = JPEGSegments(piece)
            guard segments.frame == nil || segments.frame == 0xC0 || segments.frame == 0xC1, segments.scans <= 4 else {
                throw ImageError(damaged: .tiff, "it has more scans than JPEG in TIFF allows")
            }
        }
    }
}

extension TIFFDirectory {
    var isTiled: Bool { has(322) || has(323) }

    /// The bytes of the strips or tiles.
    fileprivate func pieces() throws(ImageError) -> [Data] {
        let needed = pieceCount
        guard needed > 0, let offsets = values(of: isTiled ? 324 : 273, upTo: needed) ?? values(of: 273, upTo: needed),
            offsets.count == needed
        else { throw ImageError(endsEarly: .tiff) }
        let sizes = values(of: isTiled ? 325 : 279, upTo: needed) ?? values(of: 279, upTo: needed) ?? []
        var pieces: [Data] = []
        var total = 0
        for (index, offset) in offsets.enumerated() {
            var size = index < sizes.count ? sizes[index] : 0
            // Some writers leave out the size of a single strip, as libtiff knows.
            if size == 0, needed == 1 { size = .max }
            guard size > 0, let piece = part(offset, upTo: size) else { throw ImageError(endsEarly: .tiff) }
            total += piece.count
            guard total <= fileSize else { throw ImageError(damaged: .tiff, "its strips overlap") }
            pieces.append(piece)
        }
        return pieces
    }
}

/// Writes a TIFF of one directory.
struct TIFFWriter {
    /// The numbers that pixels depend on: sizes, compression, colors, the order of bits, the layout and the
    /// orientation.
    static let numberTags = [256, 257, 259, 262, 266, 274, 277, 278, 284, 292, 293, 317, 322, 323, 332, 531]
    /// The lists, with the sizes that they can have: a value for each sample, the palette, the tables of JPEG, and
    /// fractions that define colors.
    static let listTags = [
        258: 1 << 18, 318: 16, 320: 1 << 19, 338: 1 << 18, 339: 1 << 18, 347: 1 << 16, 529: 24, 530: 8, 532: 48,
    ]

    private struct Entry {
        let type: Int
        let count: Int
        let data: Data
    }

    private let isBigEndian: Bool
    private var entries: [Int: Entry] = [:]

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func add(_ tag: Int, type: Int, count: Int, _ data: Data) {
        entries[tag] = Entry(type: type, count: count, data: data)
    }

    /// Adds numbers, as short ones if they all are.
    mutating func add(_ tag: Int, values: [Int]) {
        let isShort = values.allSatisfy { $0 < 65_536 }
        let data = Data(values.flatMap { number($0, isShort ? 2 : 4) })
        add(tag, type: isShort ? 3 : 4, count: values.count, data)
    }

    /// The file: the header, the pieces, the directory, and the values that do not fit into it.
    consuming func file(_ pieces: [Data], isTiled: Bool) -> Data {
        var file = Data(capacity: pieces.reduce(1024) { $0 + $1.count })
        file += isBigEndian ? [0x4D, 0x4D, 0, 42, 0, 0, 0, 0] : [0x49, 0x49, 42, 0, 0, 0, 0, 0]
        var offsets: [Int] = []
        for piece in pieces {
            offsets.append(file.count)
            file += piece
        }
        add(isTiled ? 324 : 273, values: offsets)
        add(isTiled ? 325 : 279, values: pieces.map(\.count))
        if !file.count.isMultiple(of: 2) { file.append(0) }
        file.replaceSubrange(4..<8, with: number(file.count, 4))
        var directory = Data(number(entries.count, 2))
        var values = Data()
        let valuesStart = file.count + 2 + entries.count * 12 + 4
        for (tag, entry) in entries.sorted(by: { $0.key < $1.key }) {
            directory += number(tag, 2) + number(entry.type, 2) + number(entry.count, 4)
            if entry.data.count <= 4 {
                directory += entry.data + [UInt8](repeating: 0, count: 4 - entry.data.count)
                continue
            }
            directory += number(valuesStart + values.count, 4)
            values += entry.data
            if !values.count.isMultiple(of: 2) { values.append(0) }
        }
        return file + directory + [0, 0, 0, 0] + values
    }

    private func number(_ value: Int, _ size: Int) -> [UInt8] {
        let little = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isBigEndian ? little.reversed() : little
    }
}
