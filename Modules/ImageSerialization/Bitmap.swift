import CGdkPixbuf
public import FoundationEssentials

/// A decoded image: 8-bit RGBA, not premultiplied, row by row from the top left.
public struct Bitmap: Sendable, Hashable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// Four bytes per pixel, without padding between rows.
    public let pixels: [UInt8]

    /// Creates a bitmap; nil unless there is at least one pixel and exactly four bytes for each.
    public init?(width: Int, height: Int, pixels: [UInt8]) {
        guard width > 0, height > 0 else { return nil }
        let (area, overflowed) = width.multipliedReportingOverflow(by: height)
        let (size, overflowedToo) = area.multipliedReportingOverflow(by: 4)
        guard !overflowed, !overflowedToo, pixels.count == size else { return nil }
        self.width = width
        self.height = height
        self.pixels = pixels
    }
}

extension Bitmap {
    /// The bitmap upright, for an EXIF orientation (CIPA DC-008, tag 274).
    func turned(by orientation: Int) -> Bitmap {
        guard (2...8).contains(orientation) else { return self }
        let isTurned = orientation >= 5
        let newWidth = isTurned ? height : width
        let newHeight = isTurned ? width : height
        let (right, bottom) = (width - 1, height - 1)
        let source = pixels
        let turned = [UInt8](unsafeUninitializedCapacity: source.count) { target, initialized in
            var place = 0
            for y in 0..<newHeight {
                for x in 0..<newWidth {
                    let (fromX, fromY) =
                        switch orientation {
                        case 2: (right - x, y)
                        case 3: (right - x, bottom - y)
                        case 4: (x, bottom - y)
                        case 5: (y, x)
                        case 6: (y, bottom - x)
                        case 7: (right - y, bottom - x)
                        default: (right - y, x)
                        }
                    let from = (fromY * width + fromX) * 4
                    for channel in 0..<4 { target[place + channel] = source[from + channel] }
                    place += 4
                }
            }
            initialized = source.count
        }
        return Bitmap(width: newWidth, height: newHeight, pixels: turned) ?? self
    }
}

extension Bitmap {
    /// Copies the pixels of a pixbuf, which may lack alpha and pads its rows.
    init(copying pixbuf: OpaquePointer) throws(ImageError) {
        let width = Int(gdk_pixbuf_get_width(pixbuf))
        let height = Int(gdk_pixbuf_get_height(pixbuf))
        let channels = Int(gdk_pixbuf_get_n_channels(pixbuf))
        let rowSize = Int(gdk_pixbuf_get_rowstride(pixbuf))
        guard let source = gdk_pixbuf_read_pixels(pixbuf), channels == 3 || channels == 4,
            gdk_pixbuf_get_bits_per_sample(pixbuf) == 8, width > 0, height > 0
        else { throw ImageError(code: .malformed, message: "The image has no pixels of eight bits.") }
        let count = width * height * 4
        let pixels = [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
            for y in 0..<height {
                let row = source + y * rowSize
                if channels == 4 {
                    (target.baseAddress).map { ($0 + y * width * 4).update(from: row, count: width * 4) }
                    continue
                }
                for x in 0..<width {
                    let place = (y * width + x) * 4
                    target[place] = row[x * 3]
                    target[place + 1] = row[x * 3 + 1]
                    target[place + 2] = row[x * 3 + 2]
                    target[place + 3] = 255
                }
            }
            initialized = count
        }
        guard let bitmap = Bitmap(width: width, height: height, pixels: pixels) else {
            throw ImageError(code: .malformed, message: "The image has no pixels.")
        }
        self = bitmap
    }

    /// Calls a closure with a pixbuf of the bitmap's pixels.
    private func withPixbuf<Value>(
        _ body: (OpaquePointer) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        guard
            let pixbuf = linnet_pixbuf_new(
                LINNET_COLORSPACE_RGB, 1, 8, Int32(clamping: width), Int32(clamping: height)),
            let target = gdk_pixbuf_get_pixels(pixbuf)
        else { throw ImageError(code: .encodingFailed, message: "The bitmap is too large for gdk-pixbuf.") }
        defer { g_object_unref(UnsafeMutableRawPointer(pixbuf)) }
        let rowSize = Int(gdk_pixbuf_get_rowstride(pixbuf))
        pixels.withUnsafeBufferPointer { source in
            guard let start = source.baseAddress else { return }
            for y in 0..<height { (target + y * rowSize).update(from: start + y * width * 4, count: width * 4) }
        }
        return try body(pixbuf)
    }

    /// The bitmap as a PNG file.
    ///
    /// - Throws: ``ImageError`` with ``ImageError/Code/encodingFailed`` if memory is short, or a side exceeds PNG's
    ///   limit.
    public func pngData() throws(ImageError) -> Data {
        try withPixbuf { pixbuf throws(ImageError) in
            var buffer: UnsafeMutablePointer<gchar>?
            var size: gsize = 0
            var error: OpaquePointer?
            guard gdk_pixbuf_save_to_bufferv(pixbuf, &buffer, &size, "png", nil, nil, &error) != 0, let buffer else {
                throw ImageError(
                    code: .encodingFailed,
                    message: "The image could not be written: \(GdkError.takeMessage(&error))."
                )
            }
            defer { g_free(buffer) }
            return Data(bytes: buffer, count: Int(size))
        }
    }

    /// The bitmap, scaled down in proportion if its longer side exceeds a limit in pixels.
    ///
    /// - Throws: ``ImageError`` with ``ImageError/Code/encodingFailed`` if memory is short.
    public func scaled(toFit limit: Int) throws(ImageError) -> Bitmap {
        let longer = max(width, height)
        let limit = max(limit, 1)
        guard longer > limit else { return self }
        let newWidth = max((width * limit + longer / 2) / longer, 1)
        let newHeight = max((height * limit + longer / 2) / longer, 1)
        return try withPixbuf { pixbuf throws(ImageError) in
            guard
                let scaled = linnet_pixbuf_scale(pixbuf, Int32(newWidth), Int32(newHeight), LINNET_INTERP_BILINEAR)
            else { throw ImageError(code: .malformed, message: "There is not enough memory to scale the image.") }
            defer { g_object_unref(UnsafeMutableRawPointer(scaled)) }
            return try Bitmap(copying: scaled)
        }
    }
}
