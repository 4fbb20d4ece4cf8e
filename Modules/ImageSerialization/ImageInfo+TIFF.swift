internal import FoundationEssentials

extension ImageInfo {
    /// The first directory, and the number of directories (TIFF 6.0, section 2).
    static func tiff(_ bytes: ImageBytes) -> ImageInfo? {
        guard let first = TIFFDirectory(bytes, start: 0) else { return nil }
        guard let width = first.value(of: 256), let height = first.value(of: 257) else { return nil }
        var seen: Set<Int> = [first.offset]
        var directory = first
        // A cycle of directories would not end.
        while let next = directory.next(), seen.insert(next.offset).inserted { directory = next }
        let orientation = first.value(of: 274) ?? 1
        var info = ImageInfo(.tiff, width: width, height: height, orientation: orientation, frameCount: seen.count)
        let tileBytes = first.tileBytes(width: width, height: height)
        info.decodedBytes = max(info.decodedBytes, first.stripBytes(width: width, height: height), tileBytes)
        return info
    }
}

extension TIFFDirectory {
    /// libtiff decodes whole strips with all samples; by default there is one strip.
    fileprivate func stripBytes(width: Int, height: Int) -> Int {
        bytes(of: width, min(value(of: 278) ?? height, height))
    }

    /// All tiles, which may be larger than the image.
    fileprivate func tileBytes(width: Int, height: Int) -> Int {
        guard isTiled else { return 0 }
        let (tileWidth, tileHeight) = (value(of: 322) ?? .max, value(of: 323) ?? .max)
        guard tileWidth > 0, tileHeight > 0 else { return .max }
        return bytes(of: tileWidth, tileHeight).product(
            tileCount(width, tileWidth).product(tileCount(height, tileHeight)))
    }

    private func tileCount(_ side: Int, _ tile: Int) -> Int { side / tile + (side % tile == 0 ? 0 : 1) }

    /// The number of strips or tiles that the image has; 0 if its size is not known.
    var pieceCount: Int {
        guard let width = value(of: 256), let height = value(of: 257) else { return 0 }
        let planes = value(of: 284) == 2 ? value(of: 277) ?? 1 : 1
        guard isTiled else {
            return tileCount(height, max(1, min(value(of: 278) ?? height, height))).product(planes)
        }
        guard let tileWidth = value(of: 322), let tileHeight = value(of: 323), tileWidth > 0, tileHeight > 0 else {
            return 0
        }
        return tileCount(width, tileWidth).product(tileCount(height, tileHeight)).product(planes)
    }

    private func bytes(of width: Int, _ height: Int) -> Int {
        // libtiff may accept values that are not understood here.
        let samples = has(277) ? value(of: 277) ?? 65_535 : 1
        let bits = has(258) ? value(of: 258) ?? 64 : 1
        return width.product(height).product(max(samples, 1)).product((max(bits, 1) + 7) / 8)
    }
}

/// A directory of tags, in TIFF and in EXIF.
struct TIFFDirectory {
    private let bytes: ImageBytes
    /// The base of the offsets in the directory.
    private let start: Int
    let isBigEndian: Bool
    let offset: Int

    /// The first directory. It should follow the header of eight bytes, which libtiff does not require.
    init?(_ bytes: ImageBytes, start: Int) {
        guard bytes.has("II", at: start) || bytes.has("MM", at: start) else { return nil }
        let isBigEndian = bytes.has("MM", at: start)
        let offset = isBigEndian ? bytes.big(start + 4, 4) : bytes.little(start + 4, 4)
        guard let offset, offset > 0 else { return nil }
        self.init(bytes: bytes, start: start, isBigEndian: isBigEndian, offset: offset)
    }

    private init(bytes: ImageBytes, start: Int, isBigEndian: Bool, offset: Int) {
        self.bytes = bytes
        self.start = start
        self.isBigEndian = isBigEndian
        self.offset = offset
    }

    private func number(_ offset: Int, _ size: Int) -> Int? {
        isBigEndian ? bytes.big(start + offset, size) : bytes.little(start + offset, size)
    }

    /// The value of a tag, or the first of several, if it is an integer. A negative one is read as a large one.
    func value(of tag: Int) -> Int? {
        guard let place = place(of: tag), let type = number(place + 2, 2), let size = Self.sizes[type],
            let count = number(place + 4, 4)
        else { return nil }
        // Values longer than four bytes are stored elsewhere.
        guard count.product(size) > 4 else { return number(place + 8, size) }
        return number(place + 8, 4).flatMap { number($0, size) }
    }

    /// Whether the directory has the tag.
    func has(_ tag: Int) -> Bool { place(of: tag) != nil }

    /// The type, the number and the bytes of a tag's values, if they are in the file.
    func entry(of tag: Int) -> (type: Int, count: Int, data: Data)? {
        guard let place = place(of: tag), let type = number(place + 2, 2), let size = Self.allSizes[type],
            let count = number(place + 4, 4)
        else { return nil }
        let total = count.product(size)
        guard total > 4 else { return bytes.part(start + place + 8, total).map { (type, count, $0) } }
        return number(place + 8, 4).flatMap { bytes.part(start + $0, total) }.map { (type, count, $0) }
    }

    /// The values of a tag, up to a number of them, if they are integers in the file.
    func values(of tag: Int, upTo limit: Int) -> [Int]? {
        guard let place = place(of: tag), let type = number(place + 2, 2), let size = Self.sizes[type],
            let declared = number(place + 4, 4)
        else { return nil }
        let count = min(declared, limit)
        guard let first = declared.product(size) > 4 ? number(place + 8, 4) : place + 8,
            bytes.part(start + first, count.product(size)) != nil
        else { return nil }
        return (0..<count).compactMap { number(first + $0 * size, size) }
    }

    /// The available bytes at an offset, up to a limit; nil if there are none.
    func part(_ offset: Int, upTo limit: Int) -> Data? {
        let count = min(limit, bytes.count - start - offset)
        return count > 0 ? bytes.part(start + offset, count) : nil
    }

    /// The size of the file.
    var fileSize: Int { bytes.count }

    /// Bytes, shorts, longs, the same with a sign, and directory offsets, by their type number (TIFF 6.0, section 2).
    /// libtiff accepts all of them for sizes.
    private static let sizes = [1: 1, 3: 2, 4: 4, 6: 1, 8: 2, 9: 4, 13: 4]

    /// Text, rationals, unknown bytes and floating-point numbers besides.
    private static let allSizes = sizes.merging([2: 1, 5: 8, 7: 1, 10: 8, 11: 4, 12: 8]) { first, _ in first }

    private func place(of tag: Int) -> Int? {
        guard let declared = number(offset, 2) else { return nil }
        // No entry lies beyond the end.
        let count = min(declared, (bytes.count - start - offset - 2) / 12)
        return (0..<count).lazy.map { offset + 2 + $0 * 12 }.first { number($0, 2) == tag }
    }

    /// The next directory.
    func next() -> TIFFDirectory? {
        guard let count = number(offset, 2), let next = number(offset + 2 + count * 12, 4), next > 0,
            number(next, 2) != nil
        else { return nil }
        return TIFFDirectory(bytes: bytes, start: start, isBigEndian: isBigEndian, offset: next)
    }
}
