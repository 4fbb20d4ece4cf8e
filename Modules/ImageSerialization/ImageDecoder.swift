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
        let decoder = PixbufDecoder(
            format: format,
            maximumPixels: options.maximumPixels,
            maximumDimension: format == .jpeg ? options.maximumDimension : nil
        )
        let decoded = try decoder.decode(firstFrame(of: data, format: format))
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
        if info.frameCount > options.maximumFrames {
            throw ImageError(
                code: .tooManyFrames,
                message: "The image has \(info.frameCount) frames, and at most \(options.maximumFrames) are allowed."
            )
        }
    }

    /// A GIF without the frames behind its first, which the loader would decode, too.
    private func firstFrame(of data: Data, format: ImageFormat) -> Data {
        guard format == .gif else { return data }
        let ends = GIFBlocks(ImageBytes(data)).imageEnds
        guard ends.count > 1, let end = ends.first else { return data }
        return data.prefix(end) + [0x3B]
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
