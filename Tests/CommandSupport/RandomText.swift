/// Random texts with many characters that are special in some format.
public enum RandomText {
    /// Makes a text that begins with `x`.
    public static func make(_ random: inout some RandomNumberGenerator) -> String {
        let special = Array("%&=+ #?/[];,\"\\\r\n\u{0}'é漢😀".unicodeScalars)
        var text = "x"
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            if Bool.random(using: &random), let scalar = special.randomElement(using: &random) {
                text.unicodeScalars.append(scalar)
            } else if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
