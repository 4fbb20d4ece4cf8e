import FoundationEssentials

/// The formats that are read, told by their first bytes and not by what the server says.
///
/// gdk-pixbuf knows more; each is code that a hostile image could reach, so that only these are asked for.
enum ImageFormat: String {
    case png, jpeg, gif, bmp, ico, tiff, webp

    init?(sniffing data: Data) {
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
}
