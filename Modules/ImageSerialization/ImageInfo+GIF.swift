extension ImageInfo {
    /// The logical screen (GIF89a, section 18), and the number of images.
    static func gif(_ bytes: ImageBytes) -> ImageInfo? {
        guard let width = bytes.little(6, 2), let height = bytes.little(8, 2) else { return nil }
        let blocks = GIFBlocks(bytes)
        var info = ImageInfo(.gif, width: width, height: height, frameCount: blocks.imageEnds.count)
        // A frame may be larger than the screen.
        info.decodedBytes = max(info.decodedBytes, blocks.firstPixels.product(4))
        return info
    }
}

/// The blocks of a GIF, without what is in them.
struct GIFBlocks {
    /// Where the data of each image ends, as far as the file goes.
    let imageEnds: [Int]
    /// How many pixels the first image says it has.
    let firstPixels: Int

    init(_ bytes: ImageBytes) {
        var ends: [Int] = []
        var firstPixels: Int?
        var offset = 13 + Self.colorTableSize(bytes.byte(10) ?? 0)
        while let introducer = bytes.byte(offset) {
            if introducer == 0x21 {
                offset += 2
            } else if introducer == 0x2C, let flags = bytes.byte(offset + 9) {
                if firstPixels == nil, let width = bytes.little(offset + 5, 2), let height = bytes.little(offset + 7, 2)
                {
                    firstPixels = width * height
                }
                // A descriptor, a colour table, and a byte for the size of codes.
                offset += 11 + Self.colorTableSize(flags)
            } else {
                break
            }
            guard let end = Self.endOfSubBlocks(bytes, from: offset) else { break }
            offset = end
            if introducer == 0x2C { ends.append(end) }
        }
        imageEnds = ends
        self.firstPixels = firstPixels ?? 0
    }

    private static func colorTableSize(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << ((flags & 7) + 1) }

    /// Sub-blocks have a byte for their size; one of size 0 ends them.
    private static func endOfSubBlocks(_ bytes: ImageBytes, from start: Int) -> Int? {
        var offset = start
        while let size = bytes.byte(offset) {
            offset += 1 + size
            if size == 0 { return offset }
        }
        return nil
    }
}
