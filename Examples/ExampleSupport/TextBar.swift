/// A bar of characters, such as `[####....]`.
package enum TextBar {
    /// - Parameter share: The filled part, from 0 to 1.
    package static func text(_ share: Double, width: Int = 30) -> String {
        let filled = Int(share * Double(width))
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "]"
    }
}
