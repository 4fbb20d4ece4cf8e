package import FoundationEssentials

/// The file that gdk-pixbuf reads of an image: written anew from the parsed parts that its pixels depend on.
///
/// The loaders and their libraries also keep and expand data that no pixel depends on: the compressed text and profile
/// of a PNG, all frames of a WebP, each tag of a TIFF. They allocate declared sizes before looking for the data. So
/// this file has only the first image without metadata, and its headers declare the actual sizes.
package struct LoaderFile: Sendable {
    /// The format. For an icon, it can be the format of the embedded image.
    package var format: ImageFormat
    /// The bytes, at most ``maximumGrowth`` more than the image has. Long pieces share the memory of the image.
    var pieces: [Data]
    /// The scans of a progressive JPEG, which a loader that is fed in pieces draws one after the other; otherwise 0.
    var progressiveScans = 0
    /// The place of an animation's first frame, if it is smaller than the canvas.
    var placement: Bitmap.Placement?
    /// Whether the loader multiplies the colors with alpha.
    var isPremultiplied = false

    /// The number of bytes by which the file can be larger than the image.
    package static let maximumGrowth = 4096

    init(_ format: ImageFormat, _ pieces: [Data]) {
        self.format = format
        self.pieces = pieces
    }

    init(_ format: ImageFormat, _ data: Data) {
        self.init(format, [data])
    }

    /// The bytes in one piece.
    package var data: Data { pieces.count == 1 ? pieces[0] : Data(pieces.joined()) }

    /// Writes the file.
    ///
    /// - Parameters:
    ///   - data: The image.
    ///   - format: Its format.
    ///   - maximumPixels: The limit on pixels, which bounds the work of decoding too.
    /// - Throws: ``ImageError`` with ``ImageError/Code/malformed`` if a needed part is missing or damaged, and with
    ///   ``ImageError/Code/tooManyPixels`` if decoding takes more work than images with that many pixels need.
    package init(of data: Data, format: ImageFormat, maximumPixels: Int) throws(ImageError) {
        let bytes = ImageBytes(data)
        switch format {
        case .png: self.init(format, try PNGChunks.essential(bytes))
        case .jpeg: self = try .jpeg(data, maximumPixels: maximumPixels)
        case .gif:
            guard let alone = GIFBlocks(bytes).firstAlone() else { throw ImageError(endsEarly: format) }
            self.init(format, alone)
        case .bmp: self.init(format, try BMPHeader.file(bytes))
        case .ico: self = try .icon(bytes)
        case .tiff: self = try .tiff(bytes)
        case .webp: self = try .webp(bytes)
        default: throw ImageError(code: .unknownFormat, message: "The format \(format) is not supported.")
        }
    }

    /// An icon's largest image: the file of a PNG, which gdk-pixbuf's loader for icons does not support, or an icon of
    /// one bitmap, so that the loader does not choose another one.
    private static func icon(_ bytes: ImageBytes) throws(ImageError) -> LoaderFile {
        guard let directory = ICODirectory(bytes) else { throw ImageError(endsEarly: .ico) }
        if let png = directory.largest.png(in: bytes) {
            return LoaderFile(.png, try PNGChunks.essential(ImageBytes(png)))
        }
        guard let alone = directory.largestAlone(in: bytes) else { throw ImageError(endsEarly: .ico) }
        return LoaderFile(.ico, alone)
    }
}
