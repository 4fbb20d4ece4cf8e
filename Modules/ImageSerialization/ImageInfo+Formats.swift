extension ImageInfo {
    /// Twelve bytes of header are OS/2's, with shorter numbers. A height below zero says that the first row is on top.
    static func bmp(_ bytes: ImageBytes) -> ImageInfo? {
        guard let headerSize = bytes.little(14, 4) else { return nil }
        if headerSize == 12 {
            guard let width = bytes.little(18, 2), let height = bytes.little(20, 2) else { return nil }
            return ImageInfo(.bmp, width: width, height: height)
        }
        guard let width = bytes.little(18, 4), let height = bytes.little(22, 4) else { return nil }
        return ImageInfo(.bmp, width: width, height: height < 0x8000_0000 ? height : 0x1_0000_0000 - height)
    }
}
