extension ImageInfo {
    /// IHDR is the first chunk (PNG, section 11.2.2).
    static func png(_ bytes: ImageBytes) -> ImageInfo? {
        guard bytes.has("IHDR", at: 12), let width = bytes.big(16, 4), let height = bytes.big(20, 4) else { return nil }
        return ImageInfo(.png, width: width, height: height)
    }

    /// Twelve bytes of header are OS/2's, with shorter numbers. A height below zero says that the first row is on top.
    static func bmp(_ bytes: ImageBytes) -> ImageInfo? {
        guard let headerSize = bytes.little(14, 4) else { return nil }
        if headerSize == 12 {
            guard let width = bytes.little(18, 2), let height = bytes.little(20, 2) else { return nil }
            return ImageInfo(.bmp, width: width, height: height)
        }
        guard let width = bytes.little(18, 4), let height = bytes.little(22, 4) else { return nil }
        return ImageInfo(.bmp, width: width, height: height < 0x8000_0000 ? height : 0x1_0000_0000 - height)
    }

    /// The largest of the icons, where a side of 0 means 256.
    static func ico(_ bytes: ImageBytes) -> ImageInfo? {
        guard let count = bytes.little(4, 2), count > 0 else { return nil }
        var largest: (width: Int, height: Int) = (0, 0)
        for index in 0..<count {
            guard let width = bytes.byte(6 + index * 16), let height = bytes.byte(7 + index * 16) else { return nil }
            let size = (width: width == 0 ? 256 : width, height: height == 0 ? 256 : height)
            if size.width * size.height > largest.width * largest.height { largest = size }
        }
        return ImageInfo(.ico, width: largest.width, height: largest.height, frameCount: count)
    }

    /// The first directory, and how many follow (TIFF 6.0, section 2).
    static func tiff(_ bytes: ImageBytes) -> ImageInfo? {
        guard let first = TIFFDirectory(bytes, start: 0) else { return nil }
        guard let width = first.value(of: 256), let height = first.value(of: 257) else { return nil }
        var seen: Set<Int> = [first.offset]
        var directory = first
        // A directory that leads back to one before would never end.
        while let next = directory.next(), seen.insert(next.offset).inserted { directory = next }
        let orientation = first.value(of: 274) ?? 1
        return ImageInfo(.tiff, width: width, height: height, orientation: orientation, frameCount: seen.count)
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

    /// A tag's value if it is one short or long number.
    func value(of tag: Int) -> Int? {
        guard let count = number(offset, 2) else { return nil }
        for index in 0..<count {
            let place = offset + 2 + index * 12
            guard let found = number(place, 2) else { return nil }
            guard found == tag else { continue }
            return number(place + 2, 2) == 3 ? number(place + 8, 2) : number(place + 8, 4)
        }
        return nil
    }

    /// The directory behind this one.
    func next() -> TIFFDirectory? {
        guard let count = number(offset, 2), let next = number(offset + 2 + count * 12, 4), next >= 8,
            number(next, 2) != nil
        else { return nil }
        return TIFFDirectory(bytes: bytes, start: start, isBigEndian: isBigEndian, offset: next)
    }
}
