import CGdkPixbuf
public import FoundationEssentials

/// Decodes images into bitmaps with gdk-pixbuf.
///
/// ```swift
/// let bitmap = try ImageDecoder(options: ImageDecoder.Options(maximumDimension: 512)).decode(data)
/// ```
public struct ImageDecoder: Sendable, Hashable, Codable {
    /// The limits and transformations.
    public var options: ImageDecoder.Options

    /// Creates a decoder.
    public init(options: ImageDecoder.Options = ImageDecoder.Options()) { self.options = options }

    /// Decodes an image; of several frames, the first.
    ///
    /// - Throws: ``ImageError`` with ``ImageError/Code/unknownFormat``, ``ImageError/Code/noLoader``,
    ///   ``ImageError/Code/tooManyPixels``, ``ImageError/Code/tooManyFrames`` or ``ImageError/Code/malformed``, also
    ///   for an image that ends early, for a JPEG of more than 64 scans, and for a TIFF that is compressed otherwise
    ///   than TIFF 6.0 and its supplements define.
    public func decode(_ data: Data) throws(ImageError) -> Bitmap {
        guard let format = ImageFormat(sniffing: data) else {
            throw ImageError(code: .unknownFormat, message: "The bytes are not an image of a known format.")
        }
        // Bytes between the segments of a JPEG are skipped later.
        let info = ImageInfo(data, format: format)
        if let info {
            try check(info)
        } else if format != .jpeg {
            throw ImageError(endsEarly: format)
        }
        let file = try LoaderFile(of: data, format: format, maximumPixels: options.maximumPixels)
        let decoded = try pixels(of: file, size: info.map { max($0.width, $0.height) })
        var bitmap = file.isPremultiplied ? decoded.bitmap.withoutPremultiplication : decoded.bitmap
        if let placement = file.placement { bitmap = bitmap.placed(placement) }
        if let limit = options.maximumDimension { bitmap = try bitmap.scaled(toFit: limit) }
        guard options.appliesOrientation else { return bitmap }
        // libtiff applies some orientations itself; the loader reports the rest.
        return bitmap.turned(by: format == .tiff ? decoded.orientation : info?.orientation ?? 1)
    }

    private func pixels(
        of file: LoaderFile, size: Int?
    ) throws(ImageError) -> (bitmap: Bitmap, orientation: Int) {
        let decoder = PixbufDecoder(
            format: file.format,
            maximumPixels: options.maximumPixels,
            maximumDimension: file.format == .jpeg ? options.maximumDimension : nil
        )
        guard file.format == .gif || drawsEachScan(of: file, size: size) else { return try decoder.decode(file.pieces) }
        return try decoder.decodeFile(file.pieces)
    }

    /// Whether the loader would draw more pixels if it is fed in pieces: it draws each scan of a progressive JPEG then,
    /// in the smaller size if it scales.
    private func drawsEachScan(of file: LoaderFile, size: Int?) -> Bool {
        guard let limit = options.maximumDimension, let size else { return file.progressiveScans > 1 }
        let divisor = [8, 4, 2].first { size >= max(limit, 1).product($0) } ?? 1
        return file.progressiveScans > divisor * divisor
    }

    private func check(_ info: ImageInfo) throws(ImageError) {
        let (pixels, overflowed) = info.width.multipliedReportingOverflow(by: info.height)
        if overflowed || pixels > options.maximumPixels {
            throw ImageError(tooManyPixels: info.width, info.height, limit: options.maximumPixels)
        }
        // A pixel takes at most four samples of sixteen bits.
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
}

extension ImageError {
    init(endsEarly format: ImageFormat) {
        self.init(code: .malformed, message: "The \(format) image ends too early.")
    }

    init(damaged format: ImageFormat, _ message: String) {
        self.init(code: .malformed, message: "The \(format) image is damaged: \(message).")
    }

    init(tooManyPixels width: Int, _ height: Int, limit: Int) {
        self.init(
            code: .tooManyPixels,
            message: "The image has \(width) x \(height) pixels, and at most \(limit) are allowed."
        )
    }
}

extension ImageDecoder {
    /// The limits for decoding, and the transformations after it.
    public struct Options: Sendable, Hashable, Codable {
        /// The maximum number of pixels; the default is 64 million, which take 256 MB. Exceeding it is
        /// ``ImageError/Code/tooManyPixels``.
        ///
        /// Larger images are refused before memory is allocated, and so are images whose decoder would take more than
        /// eight bytes per pixel: a TIFF may declare 65,535 samples per pixel. The limit bounds the time too: a
        /// progressive JPEG of the maximum size may have 16 scans, and a smaller one up to 64.
        public var maximumPixels: Int
        /// The maximum number of frames or pages; the default is 1,000. The first is decoded. Exceeding it is
        /// ``ImageError/Code/tooManyFrames``.
        public var maximumFrames: Int
        /// The maximum length of the longer side, to which larger images are scaled down in proportion. The default is
        /// nil, which keeps the size.
        ///
        /// JPEG is scaled while decoding, which takes memory for the smaller image only; other formats are decoded
        /// whole, and so are progressive JPEGs that become little smaller.
        public var maximumDimension: Int?
        /// Whether the EXIF orientation is applied; the default is true.
        public var appliesOrientation: Bool

        /// Creates options.
        public init(
            maximumPixels: Int = 64_000_000,
            maximumFrames: Int = 1000,
            maximumDimension: Int? = nil,
            appliesOrientation: Bool = true
        ) {
            self.maximumPixels = maximumPixels
            self.maximumFrames = maximumFrames
            self.maximumDimension = maximumDimension
            self.appliesOrientation = appliesOrientation
        }
    }
}

/// Decodes one image with gdk-pixbuf.
struct PixbufDecoder {
    let format: ImageFormat
    let maximumPixels: Int
    /// The length to which the loader scales the longer side; nil keeps the size.
    let maximumDimension: Int?

    /// The loader allocates once it knows the size; writing in pieces stops at a refusal.
    ///
    /// The loader of WebP reads the codes of a lossless image anew after each piece until it has all of them.
    private var pieceSize: Int { format == .webp ? .max : 16 * 1024 }

    func decode(_ pieces: [Data]) throws(ImageError) -> (bitmap: Bitmap, orientation: Int) {
        // Freed after the loader, which refers to it.
        let check = makeCheck()
        defer { check.deallocate() }
        var error: OpaquePointer?
        guard let loader = gdk_pixbuf_loader_new_with_type(format.description, &error) else {
            throw ImageError(
                code: .noLoader,
                message: "gdk-pixbuf cannot read \(format): \(GdkError.takeMessage(&error))."
            )
        }
        defer { g_object_unref(UnsafeMutableRawPointer(loader)) }
        linnet_pixbuf_loader_check_size(loader, check)

        let isWritten = write(pieces, to: loader, check: check, error: &error)
        // A loader must be closed before it is released.
        let isClosed = error == nil ? gdk_pixbuf_loader_close(loader, &error) != 0 : false
        if error != nil { gdk_pixbuf_loader_close(loader, nil) }
        let message = GdkError.takeMessage(&error)
        if check.pointee.is_refused != 0 {
            let (width, height) = (Int(check.pointee.width), Int(check.pointee.height))
            throw ImageError(tooManyPixels: width, height, limit: maximumPixels)
        }
        guard isWritten, isClosed, let pixbuf = gdk_pixbuf_loader_get_pixbuf(loader) else {
            throw ImageError(damaged: format, message)
        }
        guard format.isComplete(updatedPixels: Int(check.pointee.updated_pixels), of: pixbuf) else {
            throw ImageError(endsEarly: format)
        }
        let orientation = gdk_pixbuf_get_option(pixbuf, "orientation").flatMap { Int(String(cString: $0)) }
        return (try Bitmap(copying: pixbuf), orientation ?? 1)
    }

    /// Decodes an image whose size was checked.
    ///
    /// From a file, the loaders of GIF and of progressive JPEG draw once. From pieces, which is the way without a file,
    /// they draw after each piece or scan.
    func decodeFile(_ pieces: [Data]) throws(ImageError) -> (bitmap: Bitmap, orientation: Int) {
        guard format.isReadable else { return try decode(pieces) }
        var error: OpaquePointer?
        let loaded = MemoryFile.with(pieces) { path in gdk_pixbuf_new_from_file(path, &error) }
        guard let loaded else { return try decode(pieces) }
        guard let pixbuf = loaded else { throw ImageError(damaged: format, GdkError.takeMessage(&error)) }
        defer { g_object_unref(UnsafeMutableRawPointer(pixbuf)) }
        return (try Bitmap(copying: pixbuf), 1)
    }

    private func makeCheck() -> UnsafeMutablePointer<LinnetPixbufSizeCheck> {
        let check = UnsafeMutablePointer<LinnetPixbufSizeCheck>.allocate(capacity: 1)
        check.initialize(to: LinnetPixbufSizeCheck())
        check.pointee.maximum_pixels = gint64(maximumPixels)
        check.pointee.maximum_dimension = Int32(clamping: maximumDimension.map { max($0, 1) } ?? 0)
        return check
    }

    /// Writes the pieces as if they were one. A loader draws before it reports an error, and how much it draws depends
    /// on the bytes that it gets at once: a JPEG whose header came alone would be drawn to its end.
    private func write(
        _ pieces: [Data],
        to loader: OpaquePointer,
        check: UnsafeMutablePointer<LinnetPixbufSizeCheck>,
        error: inout OpaquePointer?
    ) -> Bool {
        if pieces.count == 1 { return write(pieces[0], to: loader, check: check, error: &error) }
        var joined = Data()
        for piece in pieces {
            var rest = piece
            while !rest.isEmpty {
                let part = rest.prefix(pieceSize - joined.count)
                rest = rest.dropFirst(part.count)
                joined.append(part)
                guard joined.count == pieceSize else { continue }
                guard write(joined, to: loader, check: check, error: &error) else { return false }
                joined.removeAll(keepingCapacity: true)
            }
        }
        return write(joined, to: loader, check: check, error: &error)
    }

    private func write(
        _ data: Data,
        to loader: OpaquePointer,
        check: UnsafeMutablePointer<LinnetPixbufSizeCheck>,
        error: inout OpaquePointer?
    ) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty, check.pointee.is_refused == 0 {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(pieceSize))
                rest = rest.dropFirst(piece.count)
                let start = piece.bindMemory(to: UInt8.self).baseAddress
                if gdk_pixbuf_loader_write(loader, start, gsize(piece.count), &error) == 0 { return false }
            }
            return true
        }
    }
}

/// An error of GLib.
enum GdkError {
    /// Takes the message, without its full stop, and releases the error.
    static func takeMessage(_ error: inout OpaquePointer?) -> String {
        guard let raised = error else { return "it ends too early" }
        error = nil
        defer { g_error_free(raised) }
        let message = linnet_error_message(raised).map { String(cString: $0) } ?? "no reason is given"
        return message.hasSuffix(".") ? String(message.dropLast()) : message
    }
}
