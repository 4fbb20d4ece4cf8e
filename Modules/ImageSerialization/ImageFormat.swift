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
    /// WebP. Its loader for gdk-pixbuf is a separate package.
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
    /// Whether all rows were reported, for the formats with uncompressed or run-length encoded pixels.
    ///
    /// gdk-pixbuf does not report missing pixels of such an image; here they are an error. For other formats, the
    /// loaders or ``LoaderFile`` check that the image is complete.
    func isComplete(updatedPixels: Int, of pixbuf: OpaquePointer) -> Bool {
        guard self == .bmp || self == .ico else { return true }
        return updatedPixels >= Int(gdk_pixbuf_get_width(pixbuf)) * Int(gdk_pixbuf_get_height(pixbuf))
    }
}
