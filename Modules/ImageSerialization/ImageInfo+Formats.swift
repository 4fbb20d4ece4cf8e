internal import FoundationEssentials

extension ImageInfo {
    /// IHDR is the first chunk, and eXIf may follow it (PNG, third edition, sections 11.2.1 and 11.3.4.4).
    static func png(_ bytes: ImageBytes) -> ImageInfo? {
        guard bytes.has("IHDR", at: 12), let width = bytes.big(16, 4), let height = bytes.big(20, 4) else { return nil }
        return ImageInfo(.png, width: width, height: height, orientation: orientation(bytes))
    }

    private static func orientation(_ bytes: ImageBytes) -> Int {
        var offset = 8
        while let length = bytes.big(offset, 4), !bytes.has("IEND", at: offset + 4) {
            if bytes.has("eXIf", at: offset + 4) {
                return TIFFDirectory(bytes, start: offset + 8)?.value(of: 274) ?? 1
            }
            offset += 12 + length
        }
        return 1
    }
}

extension ImageInfo {
    /// Walks the markers up to the frame header (ITU T.81, sections B.1.1.4 and B.2.2), and reads the first EXIF
    /// segment on the way.
    static func jpeg(_ bytes: ImageBytes) -> ImageInfo? {
        var offset = 2
        var orientation: Int?
        while let prefix = bytes.byte(offset), prefix == 0xFF, let marker = bytes.byte(offset + 1) {
            switch marker {
            case 0xFF: offset += 1
            case 0x01, 0xD0...0xD8: offset += 2
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard let length = bytes.big(offset + 2, 2), length >= 8, let height = bytes.big(offset + 5, 2),
                    let width = bytes.big(offset + 7, 2)
                else { return nil }
                return ImageInfo(.jpeg, width: width, height: height, orientation: orientation ?? 1)
            default:
                guard let length = bytes.big(offset + 2, 2), length >= 2 else { return nil }
                if orientation == nil, marker == 0xE1, bytes.has("Exif\0\0", at: offset + 4) {
                    orientation = TIFFDirectory(bytes, start: offset + 10)?.value(of: 274) ?? 1
                }
                offset += 2 + length
            }
        }
        return nil
    }
}

extension ImageInfo {
    /// The canvas of the extended format, or the size of the single image (RFC 9649, section 2).
    static func webp(_ bytes: ImageBytes) -> ImageInfo? {
        if bytes.has("VP8X", at: 12) { return extendedWebP(bytes) }
        if bytes.has("VP8L", at: 12) {
            guard bytes.byte(20) == 0x2F, let bits = bytes.little(21, 4) else { return nil }
            return ImageInfo(.webp, width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        }
        guard bytes.has("VP8 ", at: 12), bytes.big(23, 3) == 0x9D012A, let width = bytes.little(26, 2),
            let height = bytes.little(28, 2)
        else { return nil }
        return ImageInfo(.webp, width: width & 0x3FFF, height: height & 0x3FFF)
    }

    private static func extendedWebP(_ bytes: ImageBytes) -> ImageInfo? {
        guard let width = bytes.little(24, 3), let height = bytes.little(27, 3) else { return nil }
        var frames = 0
        var orientation: Int?
        var offset = 12
        while let size = bytes.little(offset + 4, 4) {
            if bytes.has("ANMF", at: offset) { frames += 1 }
            if orientation == nil, bytes.has("EXIF", at: offset) {
                // Some programs repeat JPEG's prefix here.
                let start = offset + (bytes.has("Exif\0\0", at: offset + 8) ? 14 : 8)
                orientation = TIFFDirectory(bytes, start: start)?.value(of: 274) ?? 1
            }
            offset += 8 + size + size & 1
        }
        return ImageInfo(
            .webp, width: width + 1, height: height + 1, orientation: orientation ?? 1, frameCount: frames)
    }
}

extension ImageInfo {
    /// A header of twelve bytes is OS/2's, with shorter numbers. A negative height means that the top row comes first.
    static func bmp(_ bytes: ImageBytes) -> ImageInfo? {
        guard let headerSize = bytes.little(14, 4) else { return nil }
        if headerSize == 12 {
            guard let width = bytes.little(18, 2), let height = bytes.little(20, 2) else { return nil }
            return ImageInfo(.bmp, width: width, height: height)
        }
        guard let width = bytes.little(18, 4), let height = bytes.little(22, 4) else { return nil }
        return ImageInfo(.bmp, width: width, height: height < 0x8000_0000 ? height : 0x1_0000_0000 - height)
    }
}
