// The lines of code that make the effects of the app. A test compares them with the sources.

extension TimelineCommand {
    /// The line that performs the command.
    var code: String {
        switch self {
        case .refresh: "session.get(Self.path, [\"count\": ParameterValue(count)]).timeout(.seconds(30))"
        case .download: "try await download(session.get(attachment.url.absoluteString), to: file)"
        case .upload: "session.post(Self.uploadPath, form: form).task()"
        case .suspend: "isSuspended ? downloads.resume(download) : downloads.pause(download)"
        case .cancel: "downloads.cancel(download)"
        }
    }
}

extension TimelinePanel {
    /// The line that has what the panel shows; nil for the panel of these lines.
    var code: String? {
        switch self {
        case .info: "$0.instruments = [requests]"
        case .pins: "try .publicKeyPins(pins, anchors: anchors)"
        case .network: "for await status in statuses { self?.values.network = status }"
        case .code: nil
        }
    }

    /// The lines of all commands and panels.
    static var codeLines: [String] {
        TimelineCommand.allCases.map { "\($0.rawValue): \($0.code)" }
            + allCases.compactMap { panel in panel.code.map { "\(panel.rawValue): \($0)" } }
            + ["pictures: picture.load(ImageRequest(user.avatarImage.url))"]
    }
}
