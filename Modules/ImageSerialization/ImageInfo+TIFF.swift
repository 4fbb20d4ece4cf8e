extension ImageInfo {
    /// The first directory, and how many follow (TIFF 6.0, section 2).
    static func tiff(_ bytes: ImageBytes) -> ImageInfo? {
        guard let first = TIFFDirectory(bytes, start: 0) else { return nil }
        guard let width = first.value(of: 256), let height = first.value(of: 257) else { return nil }
        var seen: Set<Int> = [first.offset]
        var directory = first
        // A directory that leads back to one before would never end.
        while let next = directory.next(), seen.insert(next.offset).inserted { directory = next }
        let orientation = first.value(of: 274) ?? 1
        var info = ImageInfo(.tiff, width: width, height: height, orientation: orientation, frameCount: seen.count)
        info.decodedBytes = max(info.decodedBytes, first.stripBytes(width: width, height: height), first.tileBytes)
        return info
    }
}

extension TIFFDirectory {
    /// libtiff decodes a strip at a time, with all samples of its pixels; by default there is one.
    fileprivate func stripBytes(width: Int, height: Int) -> Int {
        bytes(of: width, min(value(of: 278) ?? height, height))
    }

    fileprivate var tileBytes: Int {
        guard has(322) || has(323) else { return 0 }
        return bytes(of: value(of: 322) ?? .max, value(of: 323) ?? .max)
    }

    private func bytes(of width: Int, _ height: Int) -> Int {
        // What is there and is no number may be one to libtiff.
        let samples = has(277) ? value(of: 277) ?? 65_535 : 1
        let bits = has(258) ? value(of: 258) ?? 64 : 1
        return width.product(height).product(max(samples, 1)).product((max(bits, 1) + 7) / 8)
    }
}

/// A list of tags, in TIFF and in EXIF.
struct TIFFDirectory {
    private let bytes: ImageBytes
    /// Where the offsets within count from.
    private let start: Int
    private let isBigEndian: Bool
    let offset: Int

    /// The first directory behind a header of eight bytes.
    init?(_ bytes: ImageBytes, start: Int) {
        guard bytes.has("II", at: start) || bytes.has("MM", at: start) else { return nil }
        let isBigEndian = bytes.has("MM", at: start)
        let offset = isBigEndian ? bytes.big(start + 4, 4) : bytes.little(start + 4, 4)
        guard let offset, offset >= 8 else { return nil }
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

    /// A tag's value, or the first of several, if it is a whole number without sign.
    func value(of tag: Int) -> Int? {
        guard let place = place(of: tag), let type = number(place + 2, 2), let size = Self.sizes[type],
            let count = number(place + 4, 4)
        else { return nil }
        // What is longer than four bytes stands elsewhere.
        guard count.product(size) > 4 else { return number(place + 8, size) }
        return number(place + 8, 4).flatMap { number($0, size) }
    }

    /// Whether the tag is there.
    func has(_ tag: Int) -> Bool { place(of: tag) != nil }

    /// Bytes, short and long numbers, and offsets of directories, by their number (TIFF 6.0, section 2).
    private static let sizes = [1: 1, 3: 2, 4: 4, 13: 4]

    private func place(of tag: Int) -> Int? {
        guard let count = number(offset, 2) else { return nil }
        return (0..<count).lazy.map { offset + 2 + $0 * 12 }.first { number($0, 2) == tag }
    }

    /// The directory behind this one.
    func next() -> TIFFDirectory? {
        guard let count = number(offset, 2), let next = number(offset + 2 + count * 12, 4), next >= 8,
            number(next, 2) != nil
        else { return nil }
        return TIFFDirectory(bytes: bytes, start: start, isBigEndian: isBigEndian, offset: next)
    }
}
