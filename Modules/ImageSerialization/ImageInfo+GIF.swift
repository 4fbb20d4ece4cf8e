internal import FoundationEssentials

extension ImageInfo {
    /// The logical screen (GIF89a, section 18), and the number of images.
    static func gif(_ bytes: ImageBytes) -> ImageInfo? {
        guard let width = bytes.little(6, 2), let height = bytes.little(8, 2) else { return nil }
        let blocks = GIFBlocks(bytes)
        var info = ImageInfo(.gif, width: width, height: height, frameCount: blocks.imageCount)
        // A frame may be larger than the screen.
        info.decodedBytes = max(info.decodedBytes, blocks.first?.pixels.product(4) ?? 0)
        return info
    }
}

/// The blocks of a GIF.
struct GIFBlocks {
    /// The first image, if it is complete.
    private(set) var first: Image?
    /// The number of complete images.
    private(set) var imageCount = 0
    private let bytes: ImageBytes

    struct Image {
        /// The index of the transparent color, if the graphic control extension before the image has one.
        fileprivate let transparentIndex: Int?
        /// The descriptor with its color table, without the code size and the data.
        fileprivate let descriptor: (offset: Int, size: Int)
        /// The number of pixels in the descriptor.
        let pixels: Int
    }

    init(_ bytes: ImageBytes) {
        self.bytes = bytes
        var transparentIndex: Int?
        var offset = 13 + Self.colorTableSize(bytes.byte(10) ?? 0)
        while let introducer = bytes.byte(offset), introducer != 0x3B {
            switch introducer {
            case 0x21:
                if first == nil, bytes.byte(offset + 1) == 0xF9, let size = bytes.byte(offset + 2), size >= 4,
                    let flags = bytes.byte(offset + 3)
                {
                    transparentIndex = flags & 1 == 1 ? bytes.byte(offset + 6) : nil
                }
                guard let end = Self.endOfSubBlocks(bytes, from: offset + 2) else { return }
                offset = end
            case 0x2C:
                guard let width = bytes.little(offset + 5, 2), let height = bytes.little(offset + 7, 2),
                    let flags = bytes.byte(offset + 9)
                else { return }
                let size = 10 + Self.colorTableSize(flags)
                guard let end = Self.endOfSubBlocks(bytes, from: offset + size + 1) else { return }
                first =
                    first
                    ?? Image(
                        transparentIndex: transparentIndex, descriptor: (offset, size), pixels: width * height)
                imageCount += 1
                offset = end
            // Bytes between blocks are skipped, as gdk-pixbuf does.
            default: offset += 1
            }
        }
    }

    /// A file of the header and the first image, in which every byte has its original meaning; nil if there is no
    /// complete image, or the first image has no pixels.
    ///
    /// The loader would decode all images, and reads other blocks than this parser where extensions are malformed.
    func firstAlone() -> Data? {
        guard let first, first.pixels > 0, let codeSize = bytes.byte(first.descriptor.offset + first.descriptor.size),
            let header = bytes.part(0, 13 + Self.colorTableSize(bytes.byte(10) ?? 0)),
            let descriptor = bytes.part(first.descriptor.offset, first.descriptor.size)
        else { return nil }
        var file = header
        if let index = first.transparentIndex { file += [0x21, 0xF9, 4, 1, 0, 0, UInt8(index), 0] }
        file += descriptor
        file.append(UInt8(codeSize))
        file += subBlocks(at: first.descriptor.offset + first.descriptor.size + 1)
        file.append(0x3B)
        return file
    }

    /// Copies sub-blocks into ones of the maximum size: the loader moves the rest of the file for each.
    private func subBlocks(at start: Int) -> Data {
        var content = Data()
        var offset = start
        while let size = bytes.byte(offset), size > 0, let block = bytes.part(offset + 1, size) {
            content += block
            offset += 1 + size
        }
        var blocks = Data(capacity: content.count + content.count / 255 + 2)
        while !content.isEmpty {
            let block = content.prefix(255)
            blocks.append(UInt8(block.count))
            blocks += block
            content = content.dropFirst(block.count)
        }
        blocks.append(0)
        return blocks
    }

    private static func colorTableSize(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << ((flags & 7) + 1) }

    /// Sub-blocks begin with their size; one of size 0 ends them.
    private static func endOfSubBlocks(_ bytes: ImageBytes, from start: Int) -> Int? {
        var offset = start
        while let size = bytes.byte(offset) {
            offset += 1 + size
            if size == 0 { return offset }
        }
        return nil
    }
}
