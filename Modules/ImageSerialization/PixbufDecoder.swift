import CGdkPixbuf
import FoundationEssentials

/// Decodes one image with gdk-pixbuf.
struct PixbufDecoder {
    let format: ImageFormat
    let maximumPixels: Int
    /// What the loader scales the longer side to; nil scales nothing.
    let maximumDimension: Int?

    /// A loader allocates once it knows the size, so that the bytes go in by pieces, and none follow a refusal.
    private static let pieceSize = 16 * 1024

    func decode(_ data: Data) throws(ImageError) -> (bitmap: Bitmap, orientation: Int) {
        var error: UnsafeMutablePointer<GError>?
        guard let loader = gdk_pixbuf_loader_new_with_type(format.description, &error) else {
            throw ImageError(
                code: .noLoader,
                message: "gdk-pixbuf cannot read \(format): \(GdkError.takeMessage(&error))."
            )
        }
        defer { g_object_unref(loader) }
        let check = makeCheck()
        defer { check.deallocate() }
        linnet_pixbuf_loader_check_size(loader, check)

        let isWritten = write(data, to: loader, check: check, error: &error)
        // A loader must be closed before it is released, whatever happened.
        let isClosed = error == nil ? gdk_pixbuf_loader_close(loader, &error) != 0 : false
        if error != nil { gdk_pixbuf_loader_close(loader, nil) }
        let message = GdkError.takeMessage(&error)
        if check.pointee.is_refused != 0 {
            let (width, height) = (Int(check.pointee.width), Int(check.pointee.height))
            throw ImageError(tooManyPixels: width, height, limit: maximumPixels)
        }
        guard isWritten, isClosed, let pixbuf = gdk_pixbuf_loader_get_pixbuf(loader) else {
            throw ImageError(code: .malformed, message: "The \(format) image is damaged: \(message).")
        }
        guard format.isComplete(data, updatedPixels: Int(check.pointee.updated_pixels), of: pixbuf) else {
            throw ImageError(code: .malformed, message: "The \(format) image ends too early.")
        }
        let orientation = gdk_pixbuf_get_option(pixbuf, "orientation").flatMap { Int(String(cString: $0)) }
        return (try Bitmap(copying: pixbuf), orientation ?? 1)
    }

    private func makeCheck() -> UnsafeMutablePointer<LinnetPixbufSizeCheck> {
        let check = UnsafeMutablePointer<LinnetPixbufSizeCheck>.allocate(capacity: 1)
        check.initialize(to: LinnetPixbufSizeCheck())
        check.pointee.maximum_pixels = gint64(maximumPixels)
        check.pointee.maximum_dimension = Int32(clamping: maximumDimension.map { max($0, 1) } ?? 0)
        return check
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
}

/// An error of GLib's.
enum GdkError {
    /// Takes the message, without its full stop, and releases the error.
    static func takeMessage(_ error: inout UnsafeMutablePointer<GError>?) -> String {
        guard let raised = error else { return "it ends too early" }
        error = nil
        defer { g_error_free(raised) }
        let message = raised.pointee.message.map { String(cString: $0) } ?? "no reason is given"
        return message.hasSuffix(".") ? String(message.dropLast()) : message
    }
}
