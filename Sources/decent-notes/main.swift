print("decent-notes")
