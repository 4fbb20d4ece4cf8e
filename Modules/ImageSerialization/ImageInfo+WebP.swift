extension ImageInfo {
    /// The canvas of the extended form, or the size of the one image (RFC 9649, section 2).
    static func webp(_ bytes: ImageBytes) -> ImageInfo? {
        if bytes.has("VP8X", at: 12) { return extendedWebP(bytes) }
        if bytes.has("VP8L", at: 12) {
            guard bytes.byte(20) == 0x2F, let bits = bytes.little(21, 4) else { return nil }
            return ImageInfo(.webp, width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        }
        guard bytes.has("VP8 ", at: 12), bytes.big(23, 3) == 0x9D012A, let width = bytes.little(26, 2),
            let height = bytes.little(28, 2)
        else { return nil }
        return ImageInfo(.webp, width: width & 0x3FFF, height: height & 0x3FFF)
    }

    private static func extendedWebP(_ bytes: ImageBytes) -> ImageInfo? {
        guard let width = bytes.little(24, 3), let height = bytes.little(27, 3) else { return nil }
        var frames = 0
        var orientation = 1
        var offset = 12
        while let size = bytes.little(offset + 4, 4) {
            if bytes.has("ANMF", at: offset) { frames += 1 }
            if bytes.has("EXIF", at: offset) {
                // Some programs write JPEG's prefix here, too.
                let start = offset + (bytes.has("Exif\0\0", at: offset + 8) ? 14 : 8)
                orientation = TIFFDirectory(bytes, start: start)?.value(of: 274) ?? 1
            }
            offset += 8 + size + size & 1
        }
        return ImageInfo(.webp, width: width + 1, height: height + 1, orientation: orientation, frameCount: frames)
    }
}
