extension ImageInfo {
    /// Steps from marker to marker up to the frame's header (ITU T.81, B.1.1.4 and B.2.2), and sees EXIF on the way.
    static func jpeg(_ bytes: ImageBytes) -> ImageInfo? {
        var offset = 2
        var orientation = 1
        while let prefix = bytes.byte(offset), prefix == 0xFF, let marker = bytes.byte(offset + 1) {
            switch marker {
            case 0xFF: offset += 1
            case 0x01, 0xD0...0xD8: offset += 2
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard let height = bytes.big(offset + 5, 2), let width = bytes.big(offset + 7, 2) else { return nil }
                return ImageInfo(.jpeg, width: width, height: height, orientation: orientation)
            default:
                guard let length = bytes.big(offset + 2, 2), length >= 2 else { return nil }
                if marker == 0xE1, bytes.has("Exif\0\0", at: offset + 4) {
                    orientation = TIFFDirectory(bytes, start: offset + 10)?.value(of: 274) ?? orientation
                }
                offset += 2 + length
            }
        }
        return nil
    }
}
