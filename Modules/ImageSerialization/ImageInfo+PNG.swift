extension ImageInfo {
    /// IHDR is the first chunk, and eXIf may stand behind it (PNG, third edition, sections 11.2.1 and 11.3.4.4).
    static func png(_ bytes: ImageBytes) -> ImageInfo? {
        guard bytes.has("IHDR", at: 12), let width = bytes.big(16, 4), let height = bytes.big(20, 4) else { return nil }
        return ImageInfo(.png, width: width, height: height, orientation: orientation(bytes))
    }

    private static func orientation(_ bytes: ImageBytes) -> Int {
        var offset = 8
        while let length = bytes.big(offset, 4), !bytes.has("IEND", at: offset + 4) {
            if bytes.has("eXIf", at: offset + 4) {
                return TIFFDirectory(bytes, start: offset + 8)?.value(of: 274) ?? 1
            }
            offset += 12 + length
        }
        return 1
    }
}
