import CGdkPixbuf
public import FoundationEssentials

/// A format of images that is read here, told by its first bytes and not by what the server says.
///
/// gdk-pixbuf knows more; each is code that a hostile image could reach, so that only these are asked for.
public struct ImageFormat: Sendable, Hashable, CustomStringConvertible {
    /// The name that gdk-pixbuf has for it, such as `jpeg`.
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
    /// WebP, for which gdk-pixbuf needs a loader from a package of its own.
    public static let webp = ImageFormat("webp")

    /// The format that the bytes begin as; nil if it is none of these.
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
        g_object_unref(loader)
        return true
    }
}

extension ImageFormat {
    /// Whether the bytes reach the format's own end mark, or every row has been reported.
    ///
    /// gdk-pixbuf shows an image that ends early with grey where pixels are missing; here it is an error. The other
    /// formats' loaders see to it themselves.
    func isComplete(_ data: Data, updatedPixels: Int, of pixbuf: OpaquePointer) -> Bool {
        switch self {
        case .png: hasPNGEnd(data)
        case .jpeg: hasJPEGEnd(data)
        case .bmp, .ico:
            updatedPixels >= Int(gdk_pixbuf_get_width(pixbuf)) * Int(gdk_pixbuf_get_height(pixbuf))
        case .gif: !GIFBlocks(ImageBytes(data)).imageEnds.isEmpty
        // The size in RIFF's header is that of all behind it (RFC 9649, section 2.3).
        case .webp: ImageBytes(data).little(4, 4).map { $0 <= data.count - 8 } ?? false
        default: true
        }
    }

    /// Steps from chunk to chunk up to IEND (PNG, section 5.3).
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

    /// Looks for EOI (ITU T.81, B.1.1.3) near the end, since some programs write behind it.
    private func hasJPEGEnd(_ data: Data) -> Bool {
        let tail = data.suffix(64 * 1024)
        return zip(tail, tail.dropFirst()).contains { $0 == 0xFF && $1 == 0xD9 }
    }
}
