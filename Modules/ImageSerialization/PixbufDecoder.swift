import CGdkPixbuf
import FoundationEssentials

/// Decodes one image with gdk-pixbuf.
struct PixbufDecoder {
    let maximumPixels: Int

    /// A loader allocates once it knows the size, so that the bytes go in by pieces, and none follow a refusal.
    private static let pieceSize = 16 * 1024

    func decode(_ data: Data) throws(ImageError) -> Bitmap {
        guard let format = ImageFormat(sniffing: data) else {
            throw ImageError(code: .unknownFormat, message: "the bytes are no image of a known format")
        }
        var error: UnsafeMutablePointer<GError>?
        guard let loader = gdk_pixbuf_loader_new_with_type(format.rawValue, &error) else {
            throw ImageError(
                code: .noLoader,
                message: "gdk-pixbuf cannot read \(format.rawValue): \(Self.takeMessage(&error))"
            )
        }
        defer { g_object_unref(loader) }
        let check = UnsafeMutablePointer<LinnetPixbufSizeCheck>.allocate(capacity: 1)
        check.initialize(to: LinnetPixbufSizeCheck())
        check.pointee.maximum_pixels = gint64(maximumPixels)
        defer { check.deallocate() }
        linnet_pixbuf_loader_check_size(loader, check)

        let isWritten = write(data, to: loader, check: check, error: &error)
        // A loader must be closed before it is released, whatever happened.
        let isClosed = error == nil ? gdk_pixbuf_loader_close(loader, &error) != 0 : false
        if error != nil { gdk_pixbuf_loader_close(loader, nil) }
        let message = Self.takeMessage(&error)
        if check.pointee.is_refused != 0 {
            throw ImageError(
                code: .tooManyPixels,
                message: "\(check.pointee.width) x \(check.pointee.height) pixels are more than \(maximumPixels)"
            )
        }
        guard isWritten, isClosed, let pixbuf = gdk_pixbuf_loader_get_pixbuf(loader) else {
            throw ImageError(code: .malformed, message: "the \(format.rawValue) image is damaged: \(message)")
        }
        let updated = check.pointee.updated_pixels
        guard format.isComplete(data, updatedPixels: Int(updated), of: pixbuf) else {
            throw ImageError(code: .malformed, message: "the \(format.rawValue) image ends too early")
        }
        return try Self.bitmap(of: pixbuf)
    }

    private func write(
        _ data: Data,
        to loader: UnsafeMutablePointer<GdkPixbufLoader>,
        check: UnsafeMutablePointer<LinnetPixbufSizeCheck>,
        error: inout UnsafeMutablePointer<GError>?
    ) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty, check.pointee.is_refused == 0 {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceSize))
                rest = rest.dropFirst(piece.count)
                let start = piece.bindMemory(to: UInt8.self).baseAddress
                if gdk_pixbuf_loader_write(loader, start, gsize(piece.count), &error) == 0 { return false }
            }
            return true
        }
    }

    private static func bitmap(of pixbuf: OpaquePointer) throws(ImageError) -> Bitmap {
        let width = Int(gdk_pixbuf_get_width(pixbuf))
        let height = Int(gdk_pixbuf_get_height(pixbuf))
        let channels = Int(gdk_pixbuf_get_n_channels(pixbuf))
        let rowSize = Int(gdk_pixbuf_get_rowstride(pixbuf))
        guard let source = gdk_pixbuf_read_pixels(pixbuf), channels == 3 || channels == 4,
            gdk_pixbuf_get_bits_per_sample(pixbuf) == 8, width > 0, height > 0
        else { throw ImageError(code: .malformed, message: "the image has no pixels of eight bits") }
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
            throw ImageError(code: .malformed, message: "the image has no pixels")
        }
        return bitmap
    }

    private static func takeMessage(_ error: inout UnsafeMutablePointer<GError>?) -> String {
        guard let raised = error else { return "it ends too early" }
        error = nil
        defer { g_error_free(raised) }
        return raised.pointee.message.map { String(cString: $0) } ?? "no reason given"
    }
}
