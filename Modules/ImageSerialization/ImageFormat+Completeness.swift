import CGdkPixbuf
import FoundationEssentials

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
