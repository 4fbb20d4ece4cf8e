internal import FoundationEssentials

/// The header of a bitmap, in a file of its own or in an icon.
struct BMPHeader {
    /// The size of the header.
    private let size: Int
    private let depth: Int
    private let compression: Int
    /// The size of the masks and of the palette after the header.
    private let tablesSize: Int

    /// The header sizes that gdk-pixbuf's loader knows: from OS/2's to the fifth version.
    private static let sizes: Set<Int> = [12, 40, 52, 56, 64, 108, 124]

    /// Reads the header at an offset; nil if it is unknown or incomplete.
    init?(_ bytes: ImageBytes, at offset: Int) {
        guard let size = bytes.little(offset, 4), Self.sizes.contains(size) else { return nil }
        let isShort = size == 12
        guard let depth = bytes.little(offset + (isShort ? 10 : 14), 2), (1...32).contains(depth),
            let compression = isShort ? 0 : bytes.little(offset + 16, 4),
            let used = isShort ? 0 : bytes.little(offset + 32, 4), used <= 1 << depth
        else { return nil }
        self.size = size
        self.depth = depth
        self.compression = compression
        let masks = compression == 3 && (size == 40 || size == 64) ? 12 : 0
        let colors = depth <= 8 ? (used == 0 ? 1 << depth : used) : 0
        tablesSize = masks + colors * (isShort ? 3 : 4)
    }

    /// Returns the file with the pixels directly after its headers, and nothing after the pixels.
    ///
    /// The loader would allocate the declared header size and the declared offset of the pixels.
    static func file(_ bytes: ImageBytes) throws(ImageError) -> Data {
        guard let info = ImageInfo.bmp(bytes), info.width > 0, info.height > 0, let declared = bytes.little(10, 4),
            let header = BMPHeader(bytes, at: 14)
        else { throw ImageError(damaged: .bmp, "its header is not known") }
        let headSize = 14 + header.size + header.tablesSize
        let start = max(declared, headSize)
        guard let head = bytes.part(0, headSize), start < bytes.count else { throw ImageError(endsEarly: .bmp) }
        var size = bytes.count - start
        // Runs of pixels may take any size.
        if header.compression == 0 || header.compression == 3 {
            let needed = pixelBytes(info.width, info.height, depth: header.depth)
            guard needed <= size else { throw ImageError(endsEarly: .bmp) }
            size = needed
        }
        var file = head
        let offset = (0..<4).map { UInt8(truncatingIfNeeded: headSize >> (8 * $0)) }
        file.replaceSubrange((file.startIndex + 10)..<(file.startIndex + 14), with: offset)
        file += bytes.part(start, size) ?? Data()
        return file
    }

    /// The content of an icon's bitmap: the header, the palette, the pixels, and the available part of the mask; nil if
    /// a pixel is missing.
    ///
    /// The loader assumes a header of 40 bytes, and skips a declared palette even in images without one.
    static func icon(_ content: ImageBytes, width: Int, height: Int) -> Data? {
        guard let depth = content.little(14, 2), let used = content.little(32, 4) else { return nil }
        let colors = used > 0 ? used : depth <= 8 ? 1 << depth : 0
        let end = 40 + colors * 4 + pixelBytes(width, height, depth: depth)
        let mask = (width + 31) / 32 * 4 * height
        return end <= content.count ? content.part(0, min(content.count, end + mask)) : nil
    }

    /// The size of uncompressed pixels. Each row is a multiple of four bytes.
    private static func pixelBytes(_ width: Int, _ height: Int, depth: Int) -> Int {
        ((width * depth + 31) / 32 * 4).product(height)
    }
}
