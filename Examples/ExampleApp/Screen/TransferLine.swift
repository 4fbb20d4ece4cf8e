import ExampleSupport

/// One line for a transfer: its name, a bar, the speed and the remaining time.
struct TransferLine {
    private let transfer: TransferStatus

    init(_ transfer: TransferStatus) {
        self.transfer = transfer
    }

    func draw(y: Int, on frame: inout ScreenBuffer) {
        let width = frame.size.width
        let arrow = transfer.direction == .download ? "↓" : "↑"
        let name = TextWrapping.truncated(OneLine.text(transfer.name), width: max(6, width / 3))
        var x = frame.write(" \(arrow) \(name) ", x: 0, y: y, style: Style(isBold: true))
        let figures = " " + figures(isShort: width < 70)
        let room = width - x - DisplayWidth.of(figures) - 1
        if room >= 4 { x = drawBar(x: x, y: y, width: room, on: &frame) }
        frame.write(figures, x: x, y: y)
    }

    private func drawBar(x: Int, y: Int, width: Int, on frame: inout ScreenBuffer) -> Int {
        let filled = Int((Double(width) * (transfer.fraction ?? 0)).rounded(.down))
        let color = transfer.phase == .failed ? Color(255, 95, 95) : Color(95, 215, 95)
        frame.fill(x: x..<x + filled, y: y..<y + 1, style: Style(foreground: color), with: "█")
        frame.fill(x: x + filled..<x + width, y: y..<y + 1, style: Style(isDim: true), with: "░")
        return x + width
    }

    /// The progress, such as `42 % 1.2 MB/s 3 s left`.
    private func figures(isShort: Bool) -> String {
        var parts = [transfer.fraction.map { "\(Int($0 * 100)) %" } ?? Figures.size(transfer.completed)]
        if transfer.phase != .running {
            parts.append(transfer.phase.rawValue)
        } else {
            if !isShort, let speed = transfer.bytesPerSecond { parts.append(Figures.size(Int64(speed)) + "/s") }
            if let seconds = transfer.secondsLeft { parts.append("\(Int(seconds.rounded(.up))) s left") }
        }
        return parts.joined(separator: " ")
    }
}
