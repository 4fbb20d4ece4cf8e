internal import FoundationEssentials

extension LoaderFile {
    /// A file of the image, or of an animation's first frame, without metadata (RFC 9649, section 2).
    static func webp(_ bytes: ImageBytes) throws(ImageError) -> LoaderFile {
        // The size in the header counts the bytes after it.
        guard let declared = bytes.little(4, 4), declared <= bytes.count - 8 else { throw ImageError(endsEarly: .webp) }
        guard bytes.has("VP8X", at: 12) else {
            return try WebPImage(bytes, from: 12, to: bytes.count).file(canvas: nil)
        }
        guard let flags = bytes.byte(20), let width = bytes.little(24, 3), let height = bytes.little(27, 3),
            let start = bytes.afterChunk(at: 12)
        else { throw ImageError(endsEarly: .webp) }
        let canvas = (width: width + 1, height: height + 1)
        guard flags & 2 != 0 else {
            return try WebPImage(bytes, from: start, to: bytes.count).file(canvas: canvas)
        }
        guard let frame = bytes.chunk("ANMF", from: start, to: bytes.count), let end = bytes.afterChunk(at: frame),
            let x = bytes.little(frame + 8, 3), let y = bytes.little(frame + 11, 3),
            let frameWidth = bytes.little(frame + 14, 3), let frameHeight = bytes.little(frame + 17, 3)
        else { throw ImageError(endsEarly: .webp) }
        let size = (width: frameWidth + 1, height: frameHeight + 1)
        var file = try WebPImage(bytes, from: frame + 24, to: end).file(canvas: size)
        guard x * 2 + size.width <= canvas.width, y * 2 + size.height <= canvas.height else {
            throw ImageError(damaged: .webp, "its frame is outside of it")
        }
        // The canvas is transparent where there is no frame.
        if size != canvas {
            file.placement = Bitmap.Placement(x: x * 2, y: y * 2, width: canvas.width, height: canvas.height)
        }
        return file
    }
}

/// The chunks of one image in a WebP.
private struct WebPImage {
    /// The alpha of a lossy image; empty if there is none.
    private var alpha = Data()
    private let image: Data

    /// Searches for the chunks between two offsets.
    init(_ bytes: ImageBytes, from start: Int, to end: Int) throws(ImageError) {
        let lossy = bytes.chunk("VP8 ", from: start, to: end)
        guard let offset = lossy ?? bytes.chunk("VP8L", from: start, to: end), let size = bytes.little(offset + 4, 4),
            let image = bytes.part(offset, 8 + size)
        else { throw ImageError(endsEarly: .webp) }
        self.image = image
        if let lossy, let place = bytes.chunk("ALPH", from: start, to: lossy), let size = bytes.little(place + 4, 4) {
            alpha = bytes.part(place, 8 + size) ?? Data()
        }
    }

    /// A file of the chunks.
    func file(canvas: (width: Int, height: Int)?) throws(ImageError) -> LoaderFile {
        let simple = riff([image])
        guard let info = ImageInfo(simple, format: .webp) else {
            throw ImageError(damaged: .webp, "its image has no size")
        }
        if let canvas, canvas != (info.width, info.height) {
            throw ImageError(damaged: .webp, "its image has another size")
        }
        guard !alpha.isEmpty else { return LoaderFile(.webp, simple) }
        var header = Data("VP8X".utf8) + [10, 0, 0, 0, 0x10, 0, 0, 0]
        for side in [info.width - 1, info.height - 1] {
            header += (0..<3).map { UInt8(truncatingIfNeeded: side >> (8 * $0)) }
        }
        return LoaderFile(.webp, riff([header, alpha, image]))
    }

    private func riff(_ chunks: [Data]) -> Data {
        var body = Data("WEBP".utf8)
        for chunk in chunks { body += chunk.count.isMultiple(of: 2) ? chunk : chunk + [0] }
        return Data("RIFF".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) } + body
    }
}

extension ImageBytes {
    /// The offset of the first chunk of a type in a RIFF file.
    fileprivate func chunk(_ type: String, from start: Int, to end: Int) -> Int? {
        var offset = start
        while offset < end {
            if has(type, at: offset) { return offset }
            guard let next = afterChunk(at: offset) else { return nil }
            offset = next
        }
        return nil
    }

    /// The offset after a chunk, which is padded to an even size.
    fileprivate func afterChunk(at offset: Int) -> Int? { little(offset + 4, 4).map { offset + 8 + $0 + $0 & 1 } }
}
