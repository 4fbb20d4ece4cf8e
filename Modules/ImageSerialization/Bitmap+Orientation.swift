extension Bitmap {
    /// The bitmap upright, if it is stored in an orientation of EXIF's (CIPA DC-008, tag 274).
    func turned(by orientation: Int) -> Bitmap {
        guard (2...8).contains(orientation) else { return self }
        let isTurned = orientation >= 5
        let newWidth = isTurned ? height : width
        let newHeight = isTurned ? width : height
        let (right, bottom) = (width - 1, height - 1)
        let source = pixels
        let turned = [UInt8](unsafeUninitializedCapacity: source.count) { target, initialized in
            var place = 0
            for y in 0..<newHeight {
                for x in 0..<newWidth {
                    let (fromX, fromY) =
                        switch orientation {
                        case 2: (right - x, y)
                        case 3: (right - x, bottom - y)
                        case 4: (x, bottom - y)
                        case 5: (y, x)
                        case 6: (y, bottom - x)
                        case 7: (right - y, bottom - x)
                        default: (right - y, x)
                        }
                    let from = (fromY * width + fromX) * 4
                    for channel in 0..<4 { target[place + channel] = source[from + channel] }
                    place += 4
                }
            }
            initialized = source.count
        }
        return Bitmap(width: newWidth, height: newHeight, pixels: turned) ?? self
    }
}
