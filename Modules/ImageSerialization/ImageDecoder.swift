public import FoundationEssentials

/// Decodes images into bitmaps, with gdk-pixbuf.
///
/// ```swift
/// let bitmap = try ImageDecoder(options: ImageDecodingOptions(maximumDimension: 512)).decode(data)
/// ```
public struct ImageDecoder: Sendable, Hashable, Codable {
    /// The limits of what is decoded, and what is made of it.
    public var options: ImageDecodingOptions

    /// Creates a decoder.
    public init(options: ImageDecodingOptions = ImageDecodingOptions()) { self.options = options }

    /// Decodes an image, or the first of its frames.
    ///
    /// - Throws: ``ImageError`` with ``ImageError/Code/unknownFormat``, ``ImageError/Code/noLoader``,
    ///   ``ImageError/Code/tooManyPixels``, ``ImageError/Code/tooManyFrames`` or ``ImageError/Code/malformed``. An image
    ///   that ends early is malformed.
    public func decode(_ data: Data) throws(ImageError) -> Bitmap {
        guard let format = ImageFormat(sniffing: data) else {
            throw ImageError(code: .unknownFormat, message: "The bytes are not an image of a known format.")
        }
        // gdk-pixbuf judges a header that is not understood here.
        let info = ImageInfo(data, format: format)
        if let info { try check(info) }
        let first = try firstImage(of: data, format: format)
        let decoder = PixbufDecoder(
            format: first.format,
            maximumPixels: options.maximumPixels,
            maximumDimension: format == .jpeg ? options.maximumDimension : nil
        )
        let decoded = try decoder.decode(first.data)
        let scaled = try options.maximumDimension.map { limit throws(ImageError) in
            try decoded.bitmap.scaled(toFit: limit)
        }
        let bitmap = scaled ?? decoded.bitmap
        guard options.appliesOrientation else { return bitmap }
        // libtiff turns some images itself, and the loader says what is left to do.
        return bitmap.turned(by: format == .tiff ? decoded.orientation : info?.orientation ?? 1)
    }

    private func check(_ info: ImageInfo) throws(ImageError) {
        let (pixels, overflowed) = info.width.multipliedReportingOverflow(by: info.height)
        if overflowed || pixels > options.maximumPixels {
            throw ImageError(tooManyPixels: info.width, info.height, limit: options.maximumPixels)
        }
        // Sixteen bits for each of four samples are the most that a pixel needs.
        let maximumBytes = max(options.maximumPixels, 0).product(8)
        if info.decodedBytes > maximumBytes {
            throw ImageError(
                code: .tooManyPixels,
                message:
                    "The image takes \(info.decodedBytes) bytes to decode, and at most \(maximumBytes) are allowed."
            )
        }
        if info.frameCount > options.maximumFrames {
            throw ImageError(
                code: .tooManyFrames,
                message: "The image has \(info.frameCount) frames, and at most \(options.maximumFrames) are allowed."
            )
        }
    }

    /// What the loader is given: it would decode all frames of a GIF, choose by itself in an icon, and read no PNG there.
    private func firstImage(
        of data: Data, format: ImageFormat
    ) throws(ImageError) -> (data: Data, format: ImageFormat) {
        let bytes = ImageBytes(data)
        switch format {
        case .gif:
            let ends = GIFBlocks(bytes).imageEnds
            guard ends.count > 1, let end = ends.first else { return (data, format) }
            return (data.prefix(end) + [0x3B], format)
        case .ico:
            guard let directory = ICODirectory(bytes) else { return (data, format) }
            if let png = directory.largest.png(in: bytes) { return (png, .png) }
            guard directory.count > 1 else { return (data, format) }
            guard let alone = directory.largestAlone(in: bytes) else {
                throw ImageError(code: .malformed, message: "The \(format) image ends too early.")
            }
            return (alone, format)
        default: return (data, format)
        }
    }
}

extension ImageError {
    init(tooManyPixels width: Int, _ height: Int, limit: Int) {
        self.init(
            code: .tooManyPixels,
            message: "The image has \(width) x \(height) pixels, and at most \(limit) are allowed."
        )
    }
}
