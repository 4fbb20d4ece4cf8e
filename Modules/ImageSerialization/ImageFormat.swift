import CGdkPixbuf
public import FoundationEssentials

/// An image format, detected from the first bytes regardless of Content-Type.
///
/// gdk-pixbuf supports more formats, which are disabled to keep their code out of reach of hostile images.
public struct ImageFormat: Sendable, Hashable, CustomStringConvertible {
    /// The name of the format in gdk-pixbuf, such as `jpeg`.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// Portable Network Graphics.
    public static let png = ImageFormat("png")
    /// JPEG.
    public static let jpeg = ImageFormat("jpeg")
    /// Graphics Interchange Format.
    public static let gif = ImageFormat("gif")
    /// Windows bitmap.
    public static let bmp = ImageFormat("bmp")
    /// Windows icon.
    public static let ico = ImageFormat("ico")
    /// Tagged Image File Format.
    public static let tiff = ImageFormat("tiff")
    /// WebP, whose loader for gdk-pixbuf is a separate package.
    public static let webp = ImageFormat("webp")

    /// The format of the bytes; nil if it is not supported.
    public init?(sniffing data: Data) {
        let head = Array(data.prefix(12))
        switch head {
        case _ where head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]): self = .png
        case _ where head.starts(with: [0xFF, 0xD8, 0xFF]): self = .jpeg
        case _ where head.starts(with: "GIF87a".utf8) || head.starts(with: "GIF89a".utf8): self = .gif
        case _ where head.starts(with: "BM".utf8): self = .bmp
        case _ where head.starts(with: [0x00, 0x00, 0x01, 0x00]): self = .ico
        case _ where head.starts(with: [0x49, 0x49, 0x2A, 0x00]) || head.starts(with: [0x4D, 0x4D, 0x00, 0x2A]):
            self = .tiff
        case _ where head.starts(with: "RIFF".utf8) && head.dropFirst(8).elementsEqual("WEBP".utf8): self = .webp
        default: return nil
        }
    }

    /// Whether gdk-pixbuf has a loader for the format on this machine.
    public var isReadable: Bool {
        guard let loader = gdk_pixbuf_loader_new_with_type(description, nil) else { return false }
        gdk_pixbuf_loader_close(loader, nil)
        g_object_unref(UnsafeMutableRawPointer(loader))
        return true
    }
}

extension ImageFormat {
    /// Whether the bytes reach the format's end mark, or all rows were reported.
    ///
    /// gdk-pixbuf fills the missing pixels of a truncated image with gray; here it is an error. The loaders of the
    /// other formats check this themselves.
    func isComplete(_ data: Data, updatedPixels: Int, of pixbuf: OpaquePointer) -> Bool {
        switch self {
        case .png: hasPNGEnd(data)
        case .jpeg: hasJPEGEnd(data)
        case .bmp, .ico:
            updatedPixels >= Int(gdk_pixbuf_get_width(pixbuf)) * Int(gdk_pixbuf_get_height(pixbuf))
        // The size in the RIFF header counts the bytes after it (RFC 9649, section 2.3).
        case .webp: ImageBytes(data).little(4, 4).map { $0 <= data.count - 8 } ?? false
        default: true
        }
    }

    /// Walks the chunks up to IEND (PNG, section 5.3).
    private func hasPNGEnd(_ data: Data) -> Bool {
        var rest = data.dropFirst(8)
        while rest.count >= 12 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard length <= rest.count - 12 else { return false }
            if rest.dropFirst(4).prefix(4).elementsEqual("IEND".utf8) { return true }
            rest = rest.dropFirst(length + 12)
        }
        return false
    }

    /// Searches for EOI (ITU T.81, section B.1.1.3) near the end, since some programs append data.
    private func hasJPEGEnd(_ data: Data) -> Bool {
        data.suffix(64 * 1024).withUnsafeBytes { tail in
            tail.indices.dropFirst().reversed().contains { tail[$0] == 0xD9 && tail[$0 - 1] == 0xFF }
        }
    }
}
