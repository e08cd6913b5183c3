<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
    <context>
        <name>AboutDialog</name>
        <message>
            <source>&amp;Copy versions</source>
            <translation>Versionen &amp;kopieren</translation>
        </message>
        <message>
            <source>About Counterfoil</source>
            <translation>Über Counterfoil</translation>
        </message>
        <message>
            <source>Find out whether the training you ordered is the training that happened.</source>
            <translation>Finden Sie heraus, ob das Training, das Sie bestellt haben, auch das ist, das stattgefunden hat.</translation>
        </message>
        <message>
            <source>Fonts: Inter and JetBrains Mono, changed, under the SIL Open Font License 1.1.</source>
            <translation>Schriften: Inter und JetBrains Mono, geändert, unter der SIL Open Font License 1.1.</translation>
        </message>
        <message>
            <source>Free software under the Apache License 2.0, without any warranty.</source>
            <translation>Freie Software unter der Apache-Lizenz 2.0, ohne jede Gewährleistung.</translation>
        </message>
    </context>
    <context>
        <name>BatchDesk</name>
        <message>
            <source>My key</source>
            <translation>Mein Schlüssel</translation>
        </message>
    </context>
    <context>
        <name>BatchDialog</name>
        <message>
            <source>A report to &amp;print (PDF) with each</source>
            <translation>Zu jedem ein Bericht zum &amp;Drucken (PDF)</translation>
        </message>
        <message>
            <source>Choose the private key file</source>
            <translation>Datei des privaten Schlüssels wählen</translation>
        </message>
        <message>
            <source>Choose…</source>
            <translation>Wählen…</translation>
        </message>
        <message>
            <source>Outcome</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>Passphrase</source>
            <translation>Passwort</translation>
        </message>
        <message>
            <source>Private key</source>
            <translation>Privater Schlüssel</translation>
        </message>
        <message>
            <source>Private key file</source>
            <translation>Datei des privaten Schlüssels</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>Lauf</translation>
        </message>
        <message>
            <source>Say where your key is. A new one is made when you sign a single verdict.</source>
            <translation>Geben Sie an, wo Ihr Schlüssel ist. Ein neuer entsteht, wenn Sie ein einzelnes Urteil unterschreiben.</translation>
        </message>
        <message>
            <source>Sign the queue</source>
            <translation>Warteschlange unterschreiben</translation>
        </message>
        <message>
            <source>Sign {0}</source>
            <translation>{0} unterschreiben</translation>
        </message>
        <message>
            <source>Signing…</source>
            <translation>Wird unterschrieben…</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>Schritte</translation>
        </message>
        <message>
            <source>There is no such key file.</source>
            <translation>Diese Schlüsseldatei gibt es nicht.</translation>
        </message>
        <message>
            <source>Tick what you want to sign.</source>
            <translation>Kreuzen Sie an, was Sie unterschreiben wollen.</translation>
        </message>
        <message>
            <source>What is signed</source>
            <translation>Was unterschrieben wird</translation>
        </message>
        <message>
            <source>You sign that you replayed each of the ticked runs and found what stands beside it. Each gets a verdict of its own, beside its file.</source>
            <translation>Sie unterschreiben, dass Sie jeden angekreuzten Lauf nachgerechnet und gefunden haben, was daneben steht. Jeder bekommt ein eigenes Urteil, neben seiner Datei.</translation>
        </message>
        <message>
            <source>{0} of {1} are signed…</source>
            <translation>{0} von {1} sind unterschrieben…</translation>
        </message>
    </context>
    <context>
        <name>BundleQueue</name>
        <message>
            <source>It needs the data file {0}: open it alone.</source>
            <translation>Das Bündel braucht die Datendatei {0}: Öffnen Sie es einzeln.</translation>
        </message>
        <message>
            <source>This is an order that nobody has run.</source>
            <translation>Das ist ein Auftrag, den niemand ausgeführt hat.</translation>
        </message>
    </context>
    <context>
        <name>CapsuleDialog</name>
        <message>
            <source>&amp;Adjudicate</source>
            <translation>&amp;Entscheiden</translation>
        </message>
        <message>
            <source>&amp;Close</source>
            <translation>&amp;Schließen</translation>
        </message>
        <message>
            <source>An accusation, not yet checked</source>
            <translation>Ein Vorwurf, noch nicht geprüft</translation>
        </message>
        <message>
            <source>An auditor says that a step of this run is not what was ordered. Replay the step here, and see who is right; neither side is trusted.</source>
            <translation>Ein Prüfer sagt, dass ein Schritt dieses Laufs nicht der bestellte ist. Rechnen Sie den Schritt hier nach und sehen Sie, wer recht hat; keiner Seite wird vertraut.</translation>
        </message>
        <message>
            <source>An auditor says that step {0} of {1} is not what was ordered.</source>
            <translation>Ein Prüfer sagt, Schritt {0} von {1} sei nicht, was beauftragt war.</translation>
        </message>
        <message>
            <source>An auditor says that step {0} of {1} is not what was ordered: its {2} is another.</source>
            <translation>Ein Prüfer sagt, Schritt {0} von {1} sei nicht, was beauftragt war: {2} weicht ab.</translation>
        </message>
        <message>
            <source>Being adjudicated</source>
            <translation>Wird entschieden</translation>
        </message>
        <message>
            <source>Checks</source>
            <translation>Prüfungen</translation>
        </message>
        <message>
            <source>Choose the &amp;order…</source>
            <translation>Auftrag &amp;wählen…</translation>
        </message>
        <message>
            <source>Dispute capsule: {0}</source>
            <translation>Streitfallkapsel: {0}</translation>
        </message>
        <message>
            <source>Disputed</source>
            <translation>Strittig</translation>
        </message>
        <message>
            <source>File</source>
            <translation>Datei</translation>
        </message>
        <message>
            <source>It is compared with the order {0}.</source>
            <translation>Sie wird mit dem Auftrag {0} verglichen.</translation>
        </message>
        <message>
            <source>It is not compared with the client's own order: whether this step was ordered is not known.</source>
            <translation>Sie wird nicht mit dem eigenen Auftrag des Auftraggebers verglichen: Ob dieser Schritt bestellt war, ist nicht bekannt.</translation>
        </message>
        <message>
            <source>Job</source>
            <translation>Aufgabe</translation>
        </message>
        <message>
            <source>Not adjudicated</source>
            <translation>Nicht entschieden</translation>
        </message>
        <message>
            <source>Order digest</source>
            <translation>Digest des Auftrags</translation>
        </message>
        <message>
            <source>Part of the step</source>
            <translation>Teil des Schritts</translation>
        </message>
        <message>
            <source>Progress of the replay</source>
            <translation>Fortschritt der Nachrechnung</translation>
        </message>
        <message>
            <source>Replay it here, and see who is right; neither side is trusted.</source>
            <translation>Rechnen Sie ihn hier nach und sehen Sie, wer recht hat; keiner Seite wird vertraut.</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>S&amp;ign…</source>
            <translation>Unters&amp;chreiben…</translation>
        </message>
        <message>
            <source>SHA-256</source>
            <translation>SHA-256</translation>
        </message>
        <message>
            <source>The disputed step is replayed.</source>
            <translation>Der strittige Schritt wird nachgerechnet.</translation>
        </message>
        <message>
            <source>The signed adjudication is in {0}.</source>
            <translation>Die unterschriebene Entscheidung liegt in {0}.</translation>
        </message>
        <message>
            <source>Trainer's key</source>
            <translation>Schlüssel des Trainers</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>Was gefunden wurde</translation>
        </message>
        <message>
            <source>could not be read</source>
            <translation>konnte nicht gelesen werden</translation>
        </message>
    </context>
    <context>
        <name>CardView</name>
        <message>
            <source>Order digest</source>
            <translation>Digest des Auftrags</translation>
        </message>
        <message>
            <source>Order digest (SHA-256)</source>
            <translation>Digest des Auftrags (SHA-256)</translation>
        </message>
        <message>
            <source>QR code of the order digest</source>
            <translation>QR-Code des Auftragsdigests</translation>
        </message>
    </context>
    <context>
        <name>Cards</name>
        <message>
            <source>A verdict, a dispute capsule, weights, a run, a key: drop anything here, or choose it.</source>
            <translation>Ein Urteil, eine Streitfallkapsel, Gewichte, einen Lauf, einen Schlüssel: Legen Sie es hier ab, oder wählen Sie es.</translation>
        </message>
        <message>
            <source>Carry out an order, and record the run so that others can replay it.</source>
            <translation>Einen Auftrag ausführen und den Lauf so aufzeichnen, dass andere ihn nachrechnen können.</translation>
        </message>
        <message>
            <source>I audit</source>
            <translation>Ich prüfe</translation>
        </message>
        <message>
            <source>I order training</source>
            <translation>Ich beauftrage ein Training</translation>
        </message>
        <message>
            <source>I train</source>
            <translation>Ich trainiere</translation>
        </message>
        <message>
            <source>I was given something</source>
            <translation>Ich habe etwas bekommen</translation>
        </message>
        <message>
            <source>Replay a run on this machine, see whether it comes out the same, and sign what you found.</source>
            <translation>Einen Lauf auf diesem Rechner nachrechnen, sehen, ob dasselbe herauskommt, und unterschreiben, was sich ergeben hat.</translation>
        </message>
        <message>
            <source>Say what is to be trained, so that anybody can see later whether it was.</source>
            <translation>Festlegen, was trainiert werden soll, damit später jeder sehen kann, ob es so geschehen ist.</translation>
        </message>
    </context>
    <context>
        <name>CaseDesk</name>
        <message>
            <source>A replay is running: results can be shown when it is over.</source>
            <translation>Es wird gerade nachgerechnet: Ergebnisse lassen sich danach zeigen.</translation>
        </message>
        <message>
            <source>Nothing is kept of that replay on this machine as it is now: replay the run from the beginning.</source>
            <translation>Von dieser Nachrechnung ist auf diesem Rechner, wie er jetzt ist, nichts aufgehoben: Rechnen Sie den Lauf von Anfang an nach.</translation>
        </message>
        <message>
            <source>Show without signing</source>
            <translation>Ohne Unterschrift zeigen</translation>
        </message>
        <message>
            <source>{0} was found: {1}</source>
            <translation>{0} wurde gefunden: {1}</translation>
        </message>
    </context>
    <context>
        <name>CaseFields</name>
        <message>
            <source>Auditor's name</source>
            <translation>Prüfer</translation>
        </message>
        <message>
            <source>Case number</source>
            <translation>Aktenzeichen</translation>
        </message>
        <message>
            <source>Client's name</source>
            <translation>Auftraggeber</translation>
        </message>
        <message>
            <source>For the head of the report. The signed verdict does not hold it.</source>
            <translation>Für den Kopf des Berichts. Im unterschriebenen Urteil steht es nicht.</translation>
        </message>
        <message>
            <source>Trainer's name</source>
            <translation>Trainer</translation>
        </message>
    </context>
    <context>
        <name>CaseList</name>
        <message>
            <source>Find a case</source>
            <translation>Fall suchen</translation>
        </message>
        <message>
            <source>Find a case: number, job, file, outcome</source>
            <translation>Fall suchen: Aktenzeichen, Auftrag, Datei, Ergebnis</translation>
        </message>
        <message>
            <source>No case has this in it.</source>
            <translation>In keinem Fall kommt das vor.</translation>
        </message>
        <message>
            <source>{0} more cases: type to find one.</source>
            <translation>{0} weitere Fälle: Tippen Sie, um einen zu finden.</translation>
        </message>
    </context>
    <context>
        <name>CaseRow</name>
        <message>
            <source>Files of {0}</source>
            <translation>Dateien von {0}</translation>
        </message>
        <message>
            <source>Files: {0}</source>
            <translation>Dateien: {0}</translation>
        </message>
        <message>
            <source>Forget this case here; its files and results stay where they are</source>
            <translation>Diesen Fall hier vergessen; seine Dateien und Ergebnisse bleiben, wo sie sind</translation>
        </message>
        <message>
            <source>Take off the desk</source>
            <translation>Vom Schreibtisch nehmen</translation>
        </message>
        <message>
            <source>Take off the desk: {0}</source>
            <translation>Vom Schreibtisch nehmen: {0}</translation>
        </message>
    </context>
    <context>
        <name>ChecksList</name>
        <message>
            <source>Fold the passed checks</source>
            <translation>Bestandene Prüfungen einklappen</translation>
        </message>
        <message>
            <source>Show the passed checks</source>
            <translation>Bestandene Prüfungen zeigen</translation>
        </message>
        <message>
            <source>{0} of {1} passed</source>
            <translation>{0} von {1} bestanden</translation>
        </message>
    </context>
    <context>
        <name>ChecksView</name>
        <message>
            <source>Both sides are this file's own words: it was not compared with anybody's order.</source>
            <translation>Beide Seiten sind die eigenen Angaben dieser Datei: Sie wurde mit niemandes Auftrag verglichen.</translation>
        </message>
        <message>
            <source>Checks</source>
            <translation>Prüfungen</translation>
        </message>
        <message>
            <source>Client's order</source>
            <translation>Auftrag des Auftraggebers</translation>
        </message>
        <message>
            <source>Order in the file</source>
            <translation>Auftrag in der Datei</translation>
        </message>
        <message>
            <source>Ordered against run</source>
            <translation>Auftrag und Lauf im Vergleich</translation>
        </message>
    </context>
    <context>
        <name>Chronicle</name>
        <message>
            <source>Check {0}: {1}. {2}</source>
            <translation>Prüfung {0}: {1}. {2}</translation>
        </message>
        <message>
            <source>Comparing it with the order {0}.</source>
            <translation>Sie wird mit dem Auftrag {0} verglichen.</translation>
        </message>
        <message>
            <source>Devices that can replay: {0}.</source>
            <translation>Geräte, die nachrechnen können: {0}.</translation>
        </message>
        <message>
            <source>Opening {0}.</source>
            <translation>{0} wird geöffnet.</translation>
        </message>
        <message>
            <source>Paused after {0} steps.</source>
            <translation>Nach {0} Schritten angehalten.</translation>
        </message>
        <message>
            <source>Replaying {0} on {1}.</source>
            <translation>{0} wird auf {1} nachgerechnet.</translation>
        </message>
        <message>
            <source>Segments that are replayed: {0} of {1}, namely {2}.</source>
            <translation>Abschnitte, die nachgerechnet werden: {0} von {1}, nämlich {2}.</translation>
        </message>
        <message>
            <source>Shown again: {0}, {1}. The replay ended at {2}.</source>
            <translation>Wieder gezeigt: {0}, {1}. Die Nachrechnung endete am {2}.</translation>
        </message>
        <message>
            <source>Step {0} comes out different.</source>
            <translation>Schritt {0} kommt anders heraus.</translation>
        </message>
        <message>
            <source>Stopping the replay.</source>
            <translation>Die Nachrechnung wird abgebrochen.</translation>
        </message>
        <message>
            <source>The initial state differs.</source>
            <translation>Der Anfangszustand weicht ab.</translation>
        </message>
        <message>
            <source>The replay goes on.</source>
            <translation>Die Nachrechnung geht weiter.</translation>
        </message>
        <message>
            <source>Written: {0}</source>
            <translation>Geschrieben: {0}</translation>
        </message>
        <message>
            <source>{0} is open.</source>
            <translation>{0} ist geöffnet.</translation>
        </message>
    </context>
    <context>
        <name>CommandBox</name>
        <message>
            <source>Copy the &amp;command</source>
            <translation>&amp;Befehl kopieren</translation>
        </message>
        <message>
            <source>The same order by the command line</source>
            <translation>Derselbe Auftrag auf der Befehlszeile</translation>
        </message>
    </context>
    <context>
        <name>Commands</name>
        <message>
            <source>&amp;Add…</source>
            <translation>&amp;Hinzufügen…</translation>
        </message>
        <message>
            <source>&amp;Conclude as refused</source>
            <translation>Als abgelehnt abs&amp;chließen</translation>
        </message>
        <message>
            <source>&amp;Open…</source>
            <translation>Ö&amp;ffnen…</translation>
        </message>
        <message>
            <source>&amp;Pause</source>
            <translation>An&amp;halten</translation>
        </message>
        <message>
            <source>&amp;Replay</source>
            <translation>&amp;Nachrechnen</translation>
        </message>
        <message>
            <source>&amp;Sign verdict…</source>
            <translation>Urteil &amp;unterschreiben…</translation>
        </message>
        <message>
            <source>&amp;Stop</source>
            <translation>&amp;Abbrechen</translation>
        </message>
        <message>
            <source>A run, an order, a verdict, a dispute capsule, weights, a key: each is used for what it is</source>
            <translation>Ein Lauf, ein Auftrag, ein Urteil, eine Streitfallkapsel, Gewichte, ein Schlüssel: Jedes wird als das benutzt, was es ist</translation>
        </message>
        <message>
            <source>Add bundles to the queue</source>
            <translation>Bündel zur Warteschlange hinzufügen</translation>
        </message>
        <message>
            <source>Choose how much of the run is replayed, and see what that costs and proves</source>
            <translation>Wählen, wie viel vom Lauf nachgerechnet wird, und sehen, was das kostet und beweist</translation>
        </message>
        <message>
            <source>Choose the &amp;data file…</source>
            <translation>&amp;Datendatei wählen…</translation>
        </message>
        <message>
            <source>Choose the file with the data that the order names and does not hold</source>
            <translation>Die Datei mit den Daten wählen, die der Auftrag nennt und nicht enthält</translation>
        </message>
        <message>
            <source>Co&amp;mpare with order…</source>
            <translation>Mit dem &amp;Auftrag vergleichen…</translation>
        </message>
        <message>
            <source>Compare the open run with the client's own order file</source>
            <translation>Den geöffneten Lauf mit der eigenen Auftragsdatei des Auftraggebers vergleichen</translation>
        </message>
        <message>
            <source>Export step &amp;table…</source>
            <translation>Schritt&amp;tabelle exportieren…</translation>
        </message>
        <message>
            <source>Go on with a replay that was paused or stopped</source>
            <translation>Eine angehaltene oder abgebrochene Nachrechnung fortsetzen</translation>
        </message>
        <message>
            <source>Hand o&amp;ver…</source>
            <translation>Übergebe&amp;n…</translation>
        </message>
        <message>
            <source>Ke&amp;ys…</source>
            <translation>Sch&amp;lüssel…</translation>
        </message>
        <message>
            <source>Let the replay wait; Resume lets it go on</source>
            <translation>Die Nachrechnung warten lassen; mit „Fortsetzen“ geht sie weiter</translation>
        </message>
        <message>
            <source>Make a folder for others: verdict, report, capsule, your key, and how to check each</source>
            <translation>Einen Ordner für andere anlegen: Urteil, Bericht, Kapsel, Ihr Schlüssel, und wie man jedes davon prüft</translation>
        </message>
        <message>
            <source>P&amp;lan…</source>
            <translation>P&amp;lanen…</translation>
        </message>
        <message>
            <source>R&amp;esume</source>
            <translation>F&amp;ortsetzen</translation>
        </message>
        <message>
            <source>Replay the waiting bundles one after the other</source>
            <translation>Die wartenden Bündel nacheinander nachrechnen</translation>
        </message>
        <message>
            <source>Replay {0} on this machine from the beginning, and compare it</source>
            <translation>{0} auf diesem Rechner von Anfang an nachrechnen und vergleichen</translation>
        </message>
        <message>
            <source>Res&amp;ults…</source>
            <translation>Er&amp;gebnisse…</translation>
        </message>
        <message>
            <source>Run the checks and conclude REFUSED, so that a verdict can be signed</source>
            <translation>Die Prüfungen ausführen und mit REFUSED abschließen, damit ein Urteil unterschrieben werden kann</translation>
        </message>
        <message>
            <source>S&amp;ign all…</source>
            <translation>Alle unterschreib&amp;en…</translation>
        </message>
        <message>
            <source>S&amp;top</source>
            <translation>A&amp;bbrechen</translation>
        </message>
        <message>
            <source>Save dispute &amp;capsule…</source>
            <translation>Streitfall&amp;kapsel speichern…</translation>
        </message>
        <message>
            <source>Save the disputed step with its proofs, so that anybody can replay it on another machine</source>
            <translation>Den strittigen Schritt mit seinen Beweisen speichern, damit ihn jeder auf einem anderen Rechner nachrechnen kann</translation>
        </message>
        <message>
            <source>Save the replayed steps as CSV</source>
            <translation>Die nachgerechneten Schritte als CSV speichern</translation>
        </message>
        <message>
            <source>Sign what the queue found: one list, one passphrase, and a verdict for each</source>
            <translation>Unterschreiben, was die Warteschlange gefunden hat: eine Liste, ein Passwort, und für jedes ein Urteil</translation>
        </message>
        <message>
            <source>Sign what the replay found, and save it</source>
            <translation>Unterschreiben und speichern, was die Nachrechnung ergab</translation>
        </message>
        <message>
            <source>Sta&amp;rt</source>
            <translation>Sta&amp;rten</translation>
        </message>
        <message>
            <source>Stop the queue; what waits stays</source>
            <translation>Die Warteschlange abbrechen; was wartet, bleibt</translation>
        </message>
        <message>
            <source>Stop the replay</source>
            <translation>Die Nachrechnung abbrechen</translation>
        </message>
        <message>
            <source>Ta&amp;ke the order from the bundle</source>
            <translation>Auftrag aus dem Bündel ne&amp;hmen</translation>
        </message>
        <message>
            <source>The keys that you know: trainers', auditors', clients' and your own</source>
            <translation>Die Schlüssel, die Sie kennen: von Trainern, Prüfern, Auftraggebern und Ihre eigenen</translation>
        </message>
        <message>
            <source>What all replays found, signed or not, those of earlier days too</source>
            <translation>Was alle Nachrechnungen ergeben haben, unterschrieben oder nicht, auch die früherer Tage</translation>
        </message>
    </context>
    <context>
        <name>CompareDesk</name>
        <message>
            <source>&amp;Difference of two bundles…</source>
            <translation>&amp;Unterschied zweier Bündel…</translation>
        </message>
        <message>
            <source>Compare &amp;providers…</source>
            <translation>A&amp;nbieter vergleichen…</translation>
        </message>
        <message>
            <source>Compare the runs of one order that several providers made, and see who is right where they part</source>
            <translation>Die Läufe eines Auftrags vergleichen, die verschiedene Anbieter gemacht haben, und sehen, wer recht hat, wo sie auseinandergehen</translation>
        </message>
        <message>
            <source>Runs to be compared</source>
            <translation>Läufe, die verglichen werden</translation>
        </message>
        <message>
            <source>Say where two runs first differ: order, step, operator, element; nobody is judged</source>
            <translation>Sagen, wo zwei Läufe zuerst abweichen: Auftrag, Schritt, Operator, Element; beurteilt wird niemand</translation>
        </message>
    </context>
    <context>
        <name>ComparisonGrid</name>
        <message>
            <source>Run</source>
            <translation>Lauf</translation>
        </message>
    </context>
    <context>
        <name>CopyButton</name>
        <message>
            <source>Copied</source>
            <translation>Kopiert</translation>
        </message>
        <message>
            <source>Copy: {0}</source>
            <translation>Kopieren: {0}</translation>
        </message>
    </context>
    <context>
        <name>DataPage</name>
        <message>
            <source>The code runs on this machine, as you, in a process of its own; never at the trainer's.</source>
            <translation>Der Code läuft auf diesem Rechner, mit Ihren Rechten, in einem eigenen Prozess; nie beim Trainer.</translation>
        </message>
        <message>
            <source>The data become part of the order: nobody can train on others unseen.</source>
            <translation>Die Daten werden Teil des Auftrags: Niemand kann unbemerkt mit anderen trainieren.</translation>
        </message>
        <message>
            <source>The data come with this recipe; there is nothing to choose.</source>
            <translation>Die Daten gehören zu diesem Rezept; es gibt nichts auszuwählen.</translation>
        </message>
        <message>
            <source>The folder in which the code runs; empty for that of the script.</source>
            <translation>Der Ordner, in dem der Code läuft; leer für den des Skripts.</translation>
        </message>
    </context>
    <context>
        <name>DeliveryDialog</name>
        <message>
            <source>&amp;Compare again</source>
            <translation>&amp;Noch einmal vergleichen</translation>
        </message>
        <message>
            <source>&amp;Find the step…</source>
            <translation>&amp;Schritt suchen…</translation>
        </message>
        <message>
            <source>At</source>
            <translation>Stelle</translation>
        </message>
        <message>
            <source>Auditor's key</source>
            <translation>Schlüssel des Prüfers</translation>
        </message>
        <message>
            <source>Being compared</source>
            <translation>Wird verglichen</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>Sch&amp;ließen</translation>
        </message>
        <message>
            <source>Choose the &amp;verdict…</source>
            <translation>&amp;Urteil wählen…</translation>
        </message>
        <message>
            <source>DELIVERED: these are the verified weights</source>
            <translation>DELIVERED: Das sind die verifizierten Gewichte</translation>
        </message>
        <message>
            <source>DELIVERED: these are the weights of the run</source>
            <translation>DELIVERED: Dies sind die Gewichte des Laufs</translation>
        </message>
        <message>
            <source>DIFFERENT: these are other weights</source>
            <translation>DIFFERENT: Das sind andere Gewichte</translation>
        </message>
        <message>
            <source>Delivered weights: {0}</source>
            <translation>Gelieferte Gewichte: {0}</translation>
        </message>
        <message>
            <source>Elements</source>
            <translation>Elemente</translation>
        </message>
        <message>
            <source>Equal</source>
            <translation>Gleich</translation>
        </message>
        <message>
            <source>Every tensor is compared with the final state of the run.</source>
            <translation>Jeder Tensor wird mit dem Endzustand des Laufs verglichen.</translation>
        </message>
        <message>
            <source>INCONCLUSIVE: the weights of a disputed run</source>
            <translation>INCONCLUSIVE: die Gewichte eines strittigen Laufs</translation>
        </message>
        <message>
            <source>Largest difference</source>
            <translation>Größter Unterschied</translation>
        </message>
        <message>
            <source>Not compared</source>
            <translation>Nicht verglichen</translation>
        </message>
        <message>
            <source>Not looked at</source>
            <translation>Nicht angesehen</translation>
        </message>
        <message>
            <source>Nothing says that the run {0} is verified: choose the verdict on it.</source>
            <translation>Nichts sagt, dass der Lauf {0} verifiziert ist: Wählen Sie das Urteil über ihn.</translation>
        </message>
        <message>
            <source>Order digest</source>
            <translation>Digest des Auftrags</translation>
        </message>
        <message>
            <source>Progress of the comparison</source>
            <translation>Fortschritt des Vergleichs</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>Say which step of the run holds these weights, or none</source>
            <translation>Sagen, welcher Schritt des Laufs diese Gewichte enthält, oder keiner</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>Schritt</translation>
        </message>
        <message>
            <source>Tensor</source>
            <translation>Tensor</translation>
        </message>
        <message>
            <source>Tensors</source>
            <translation>Tensoren</translation>
        </message>
        <message>
            <source>Tensors that are not as in the run</source>
            <translation>Tensoren, die nicht wie im Lauf sind</translation>
        </message>
        <message>
            <source>The comparison was stopped.</source>
            <translation>Der Vergleich wurde angehalten.</translation>
        </message>
        <message>
            <source>The run {0} is judged by the verdict {1}.</source>
            <translation>Den Lauf {0} beurteilt das Urteil {1}.</translation>
        </message>
        <message>
            <source>The run {0} was replayed here and disputed: it is not what was ordered, and its weights are not those of a verified run, also where they are equal to its final state.</source>
            <translation>Der Lauf {0} wurde hier nachgerechnet und ist strittig: Er ist nicht, was beauftragt war, und seine Gewichte sind nicht die eines verifizierten Laufs, auch wenn sie seinem Endzustand gleichen.</translation>
        </message>
        <message>
            <source>The run {0} was replayed here and verified.</source>
            <translation>Der Lauf {0} wurde hier nachgerechnet und verifiziert.</translation>
        </message>
        <message>
            <source>The trainer certified its own run</source>
            <translation>Der Trainer hat seinen eigenen Lauf bescheinigt</translation>
        </message>
        <message>
            <source>The verdict on the run</source>
            <translation>Das Urteil über den Lauf</translation>
        </message>
        <message>
            <source>The weights are the final state of the run, and that run was disputed.</source>
            <translation>Die Gewichte sind der Endzustand des Laufs, und dieser Lauf ist strittig.</translation>
        </message>
        <message>
            <source>Verdicts (*.json)</source>
            <translation>Urteile (*.json)</translation>
        </message>
        <message>
            <source>Weights</source>
            <translation>Gewichte</translation>
        </message>
        <message>
            <source>What is wrong</source>
            <translation>Was nicht stimmt</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>Was gefunden wurde</translation>
        </message>
        <message>
            <source>missing</source>
            <translation>fehlt</translation>
        </message>
        <message>
            <source>none</source>
            <translation>keine</translation>
        </message>
        <message>
            <source>not a number</source>
            <translation>keine Zahl</translation>
        </message>
        <message>
            <source>not of the run</source>
            <translation>nicht aus dem Lauf</translation>
        </message>
        <message>
            <source>other values</source>
            <translation>andere Werte</translation>
        </message>
        <message>
            <source>{0} of {1}</source>
            <translation>{0} von {1}</translation>
        </message>
    </context>
    <context>
        <name>Desk</name>
        <message>
            <source>Views</source>
            <translation>Ansichten</translation>
        </message>
    </context>
    <context>
        <name>DifferenceDialog</name>
        <message>
            <source>&amp;Compare again</source>
            <translation>&amp;Noch einmal vergleichen</translation>
        </message>
        <message>
            <source>&amp;Order</source>
            <translation>&amp;Auftrag</translation>
        </message>
        <message>
            <source>&amp;Replay this step</source>
            <translation>Diesen Schritt nach&amp;rechnen</translation>
        </message>
        <message>
            <source>&amp;Turn round</source>
            <translation>&amp;Tauschen</translation>
        </message>
        <message>
            <source>All fingerprints of operators agree.</source>
            <translation>Alle Fingerabdrücke von Operatoren stimmen überein.</translation>
        </message>
        <message>
            <source>Being compared</source>
            <translation>Wird verglichen</translation>
        </message>
        <message>
            <source>Both bundles, line by line</source>
            <translation>Beide Bündel, Zeile für Zeile</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>Sch&amp;ließen</translation>
        </message>
        <message>
            <source>Choose the &amp;first…</source>
            <translation>&amp;Erstes wählen…</translation>
        </message>
        <message>
            <source>Choose the &amp;second…</source>
            <translation>&amp;Zweites wählen…</translation>
        </message>
        <message>
            <source>Choose the d&amp;ata…</source>
            <translation>&amp;Daten wählen…</translation>
        </message>
        <message>
            <source>Choose two runs, of one order or of two, or drop them here.</source>
            <translation>Wählen Sie zwei Läufe, eines Auftrags oder zweier, oder legen Sie sie hier ab.</translation>
        </message>
        <message>
            <source>Difference of two bundles</source>
            <translation>Unterschied zweier Bündel</translation>
        </message>
        <message>
            <source>Ele&amp;ment</source>
            <translation>Ele&amp;ment</translation>
        </message>
        <message>
            <source>First</source>
            <translation>Erstes</translation>
        </message>
        <message>
            <source>How deep one looks</source>
            <translation>Wie tief man blickt</translation>
        </message>
        <message>
            <source>Let both change places</source>
            <translation>Beide die Plätze tauschen lassen</translation>
        </message>
        <message>
            <source>No difference</source>
            <translation>Kein Unterschied</translation>
        </message>
        <message>
            <source>No later state is stored in both, so that there are no elements to be compared.</source>
            <translation>Kein späterer Zustand ist in beiden gespeichert; es gibt keine Elemente zu vergleichen.</translation>
        </message>
        <message>
            <source>Nobody is judged here: neither of the two is compared with what was ordered.</source>
            <translation>Hier wird niemand beurteilt: keines der beiden wird mit dem verglichen, was beauftragt war.</translation>
        </message>
        <message>
            <source>Not compared</source>
            <translation>Nicht verglichen</translation>
        </message>
        <message>
            <source>Nothing differs.</source>
            <translation>Nichts weicht ab.</translation>
        </message>
        <message>
            <source>O&amp;perator</source>
            <translation>O&amp;perator</translation>
        </message>
        <message>
            <source>Other orders, the same results</source>
            <translation>Andere Aufträge, dieselben Ergebnisse</translation>
        </message>
        <message>
            <source>Progress of the comparison</source>
            <translation>Fortschritt des Vergleichs</translation>
        </message>
        <message>
            <source>Replay the step in which they part with each run's own log, to compare single elements</source>
            <translation>Den Schritt, in dem sie auseinandergehen, mit dem Protokoll jedes Laufs nachrechnen, um einzelne Elemente zu vergleichen</translation>
        </message>
        <message>
            <source>Replay this step to compare the elements of the operator's output.</source>
            <translation>Rechnen Sie diesen Schritt nach, um die Elemente der Ausgabe des Operators zu vergleichen.</translation>
        </message>
        <message>
            <source>Result</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>Second</source>
            <translation>Zweites</translation>
        </message>
        <message>
            <source>St&amp;ep</source>
            <translation>S&amp;chritt</translation>
        </message>
        <message>
            <source>The orders differ: fingerprints of operators can be compared under one order alone.</source>
            <translation>Die Aufträge sind verschieden: Fingerabdrücke von Operatoren sind nur unter einem einzigen Auftrag vergleichbar.</translation>
        </message>
        <message>
            <source>They differ from step {0} on</source>
            <translation>Sie weichen ab Schritt {0} voneinander ab</translation>
        </message>
        <message>
            <source>They differ from the beginning</source>
            <translation>Sie weichen von Anfang an voneinander ab</translation>
        </message>
        <message>
            <source>What</source>
            <translation>Was</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>Was gefunden wurde</translation>
        </message>
        <message>
            <source>not compared</source>
            <translation>nicht verglichen</translation>
        </message>
        <message>
            <source>not known</source>
            <translation>nicht bekannt</translation>
        </message>
    </context>
    <context>
        <name>DisputeView</name>
        <message>
            <source>At step {0}, the next stored state, all tensors are equal.</source>
            <translation>In Schritt {0}, dem nächsten gespeicherten Zustand, sind alle Tensoren gleich.</translation>
        </message>
        <message>
            <source>Difference</source>
            <translation>Unterschied</translation>
        </message>
        <message>
            <source>Differing</source>
            <translation>Verschieden</translation>
        </message>
        <message>
            <source>Differing tensors</source>
            <translation>Abweichende Tensoren</translation>
        </message>
        <message>
            <source>Element</source>
            <translation>Elementindex</translation>
        </message>
        <message>
            <source>Finding</source>
            <translation>Befund</translation>
        </message>
        <message>
            <source>Fingerprint</source>
            <translation>Fingerabdruck</translation>
        </message>
        <message>
            <source>First operator</source>
            <translation>Erster Operator</translation>
        </message>
        <message>
            <source>In all</source>
            <translation>Insgesamt</translation>
        </message>
        <message>
            <source>L2</source>
            <translation>L2-Norm</translation>
        </message>
        <message>
            <source>Loss {0} as ordered, {1} as signed</source>
            <translation>Verlust {0} wie beauftragt, {1} wie unterschrieben</translation>
        </message>
        <message>
            <source>Module or slot</source>
            <translation>Modul oder Zustandstensor</translation>
        </message>
        <message>
            <source>No.</source>
            <translation>Nr.</translation>
        </message>
        <message>
            <source>Nothing has been replayed. If a step comes out different, this page says what differs.</source>
            <translation>Es wurde noch nichts nachgerechnet. Kommt ein Schritt anders heraus, so sagt diese Seite, was abweicht.</translation>
        </message>
        <message>
            <source>Operator</source>
            <translation>Operator</translation>
        </message>
        <message>
            <source>Operators around the disputed one</source>
            <translation>Operatoren um den strittigen</translation>
        </message>
        <message>
            <source>Output</source>
            <translation>Ausgabe</translation>
        </message>
        <message>
            <source>Pass</source>
            <translation>Durchgang</translation>
        </message>
        <message>
            <source>Replay</source>
            <translation>Nachrechnung</translation>
        </message>
        <message>
            <source>Replay's leaf</source>
            <translation>Blatt der Nachrechnung</translation>
        </message>
        <message>
            <source>Replay's loss</source>
            <translation>Verlust der Nachrechnung</translation>
        </message>
        <message>
            <source>Replay, exactly</source>
            <translation>Nachrechnung, exakt</translation>
        </message>
        <message>
            <source>Result</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>Shape</source>
            <translation>Form</translation>
        </message>
        <message>
            <source>Shapes</source>
            <translation>Formen</translation>
        </message>
        <message>
            <source>Signed by the party</source>
            <translation>Unterschrieben von der Partei</translation>
        </message>
        <message>
            <source>So far no replayed step differs from what the trainer signed.</source>
            <translation>Bisher weicht kein nachgerechneter Schritt von dem ab, was der Trainer unterschrieben hat.</translation>
        </message>
        <message>
            <source>Step {0} differs ({1}), first in its {2}.</source>
            <translation>Schritt {0} weicht ab ({1}), zuerst in: {2}.</translation>
        </message>
        <message>
            <source>Step {0} differs ({1}).</source>
            <translation>Schritt {0} weicht ab ({1}).</translation>
        </message>
        <message>
            <source>Technical details</source>
            <translation>Technische Einzelheiten</translation>
        </message>
        <message>
            <source>Tensor</source>
            <translation>Tensor</translation>
        </message>
        <message>
            <source>Tensors that differ after step {0}</source>
            <translation>Tensoren, die nach Schritt {0} abweichen</translation>
        </message>
        <message>
            <source>Tensors that differ at step {0}, the trainer's next stored state</source>
            <translation>Tensoren, die in Schritt {0} abweichen, dem nächsten gespeicherten Zustand des Trainers</translation>
        </message>
        <message>
            <source>The initial state differs.</source>
            <translation>Der Anfangszustand weicht ab.</translation>
        </message>
        <message>
            <source>The operators of the step around the first that differs</source>
            <translation>Die Operatoren des Schritts um den ersten, der abweicht</translation>
        </message>
        <message>
            <source>The trainer stored no later state, so single tensors cannot be compared.</source>
            <translation>Der Trainer hat keinen späteren Zustand gespeichert; einzelne Tensoren lassen sich daher nicht vergleichen.</translation>
        </message>
        <message>
            <source>There is no dispute: no replayed step differs from what the trainer signed.</source>
            <translation>Es gibt keinen Streitfall: Kein nachgerechneter Schritt weicht von dem ab, was der Trainer unterschrieben hat.</translation>
        </message>
        <message>
            <source>Trainer</source>
            <translation>Trainer</translation>
        </message>
        <message>
            <source>Trainer's leaf</source>
            <translation>Blatt des Trainers</translation>
        </message>
        <message>
            <source>Trainer's loss</source>
            <translation>Verlust des Trainers</translation>
        </message>
        <message>
            <source>Trainer, exactly</source>
            <translation>Trainer, exakt</translation>
        </message>
        <message>
            <source>Values around the first differing element</source>
            <translation>Werte um das erste abweichende Element</translation>
        </message>
        <message>
            <source>What the step read</source>
            <translation>Was der Schritt las</translation>
        </message>
        <message>
            <source>Where</source>
            <translation>Wo</translation>
        </message>
        <message>
            <source>a second replay agrees</source>
            <translation>ein zweites Nachrechnen stimmt überein</translation>
        </message>
        <message>
            <source>all fingerprints agree</source>
            <translation>alle Fingerabdrücke stimmen überein</translation>
        </message>
        <message>
            <source>different</source>
            <translation>verschieden</translation>
        </message>
        <message>
            <source>first to differ</source>
            <translation>weicht zuerst ab</translation>
        </message>
        <message>
            <source>none</source>
            <translation>keine</translation>
        </message>
        <message>
            <source>none: the shares are added in integers</source>
            <translation>keiner: Die Anteile werden in ganzen Zahlen addiert</translation>
        </message>
        <message>
            <source>not rounded</source>
            <translation>nicht gerundet</translation>
        </message>
        <message>
            <source>number {0} of {1}, {2} pass, {3}</source>
            <translation>Nummer {0} von {1}, Durchgang {2}, {3}</translation>
        </message>
        <message>
            <source>output {0}; inputs {1}</source>
            <translation>Ausgabe {0}; Eingaben {1}</translation>
        </message>
        <message>
            <source>the step itself</source>
            <translation>der Schritt selbst</translation>
        </message>
        <message>
            <source>ulps</source>
            <translation>Ulps</translation>
        </message>
        <message>
            <source>{0} comparisons of hashes</source>
            <translation>{0} Vergleiche von Hashwerten</translation>
        </message>
        <message>
            <source>{0} operators of this step differ</source>
            <translation>{0} Operatoren dieses Schritts weichen ab</translation>
        </message>
        <message>
            <source>{0}: the values around the first element that differs</source>
            <translation>{0}: die Werte um das erste Element, das abweicht</translation>
        </message>
    </context>
    <context>
        <name>DivergenceView</name>
        <message>
            <source>&amp;Logarithmic</source>
            <translation>&amp;Logarithmisch</translation>
        </message>
        <message>
            <source>&amp;Not smoothed</source>
            <translation>&amp;Nicht geglättet</translation>
        </message>
        <message>
            <source>&amp;Show another run beside it…</source>
            <translation>&amp;Anderen Lauf daneben zeigen…</translation>
        </message>
        <message>
            <source>Counterfoil bundles (*.cfoil);;All files (*)</source>
            <translation>Counterfoil-Bündel (*.cfoil);;Alle Dateien (*)</translation>
        </message>
        <message>
            <source>Differences by tensor</source>
            <translation>Unterschiede je Tensor</translation>
        </message>
        <message>
            <source>Divergence</source>
            <translation>Divergenz</translation>
        </message>
        <message>
            <source>Entries of the rounding log</source>
            <translation>Einträge des Protokolls</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>Exportieren</translation>
        </message>
        <message>
            <source>Leave the &amp;other run out</source>
            <translation>Den &amp;anderen Lauf weglassen</translation>
        </message>
        <message>
            <source>Left and right arrow keys choose a step, plus and minus zoom, Home shows the whole run</source>
            <translation>Pfeiltasten links und rechts wählen einen Schritt, Plus und Minus vergrößern und verkleinern, Pos1 zeigt den ganzen Lauf</translation>
        </message>
        <message>
            <source>Loss</source>
            <translation>Verlust</translation>
        </message>
        <message>
            <source>Loss axis</source>
            <translation>Verlustachse</translation>
        </message>
        <message>
            <source>Losses apart</source>
            <translation>Abstand der Verluste</translation>
        </message>
        <message>
            <source>Mean of &amp;{0} steps</source>
            <translation>Mittel über &amp;{0} Schritte</translation>
        </message>
        <message>
            <source>Plots over the steps</source>
            <translation>Diagramme über den Schritten</translation>
        </message>
        <message>
            <source>Point at a step to read its values; click to select it in all views.</source>
            <translation>Zeigen Sie auf einen Schritt, um seine Werte zu lesen; klicken Sie, um ihn in allen Ansichten zu wählen.</translation>
        </message>
        <message>
            <source>Reset zoom</source>
            <translation>Zoom zurücksetzen</translation>
        </message>
        <message>
            <source>Show all steps (Home); the wheel zooms, dragging moves</source>
            <translation>Alle Schritte zeigen (Pos1); das Mausrad vergrößert und verkleinert, Ziehen verschiebt</translation>
        </message>
        <message>
            <source>Show another run beside it</source>
            <translation>Anderen Lauf daneben zeigen</translation>
        </message>
        <message>
            <source>Size of the rounding log</source>
            <translation>Größe des Protokolls</translation>
        </message>
        <message>
            <source>Step {0}</source>
            <translation>Schritt {0}</translation>
        </message>
        <message>
            <source>What the plot shows</source>
            <translation>Was das Diagramm zeigt</translation>
        </message>
        <message>
            <source>log {0} bytes</source>
            <translation>Protokoll {0} Bytes</translation>
        </message>
        <message>
            <source>loss {0}</source>
            <translation>Verlust {0}</translation>
        </message>
        <message>
            <source>loss {0} (trainer), {1} (replay)</source>
            <translation>Verlust {0} (Trainer), {1} (Nachrechnung)</translation>
        </message>
        <message>
            <source>loss {0} ({1})</source>
            <translation>Verlust {0} ({1})</translation>
        </message>
        <message>
            <source>run root {0}</source>
            <translation>Laufwurzel {0}</translation>
        </message>
        <message>
            <source>steps {0} to {1}</source>
            <translation>Schritte {0} bis {1}</translation>
        </message>
        <message>
            <source>{0} corrections</source>
            <translation>{0} Korrekturen</translation>
        </message>
    </context>
    <context>
        <name>DropHint</name>
        <message>
            <source>A run is opened, several are queued. An order is compared with the run, a verdict is read, a dispute capsule is adjudicated, weights are compared with the run; data, tree heads and keys are used with what is open.</source>
            <translation>Ein Lauf wird geöffnet, mehrere kommen in die Warteschlange. Ein Auftrag wird mit dem Lauf verglichen, ein Urteil gelesen, über eine Streitfallkapsel entschieden, Gewichte werden mit dem Lauf verglichen; Daten, Baumköpfe und Schlüssel gelten für das, was offen ist.</translation>
        </message>
        <message>
            <source>Drop the file here</source>
            <translation>Datei hier ablegen</translation>
        </message>
        <message>
            <source>Drop the {0} files here</source>
            <translation>{0} Dateien hier ablegen</translation>
        </message>
    </context>
    <context>
        <name>Dropping</name>
        <message>
            <source>Comparing with the order {0}.</source>
            <translation>Wird mit dem Auftrag {0} verglichen.</translation>
        </message>
        <message>
            <source>Stopped: none of the {0} files is used.</source>
            <translation>Angehalten: Keine der {0} Dateien wird verwendet.</translation>
        </message>
        <message>
            <source>The tree heads in {0} are compared when the run is replayed.</source>
            <translation>Die Baumköpfe in {0} werden verglichen, wenn der Lauf nachgerechnet wird.</translation>
        </message>
        <message>
            <source>{0} cannot be read.</source>
            <translation>{0} kann nicht gelesen werden.</translation>
        </message>
        <message>
            <source>{0} holds data: open the run that needs it first.</source>
            <translation>{0} enthält Daten: Öffnen Sie zuerst den Lauf, der sie braucht.</translation>
        </message>
        <message>
            <source>{0} holds data: the run that needs them uses them.</source>
            <translation>{0} enthält Daten: Der Lauf, der sie braucht, verwendet sie.</translation>
        </message>
        <message>
            <source>{0} holds tree heads: open their run first.</source>
            <translation>{0} enthält Baumköpfe: Öffnen Sie zuerst ihren Lauf.</translation>
        </message>
        <message>
            <source>{0} holds tree heads: they are compared with the run.</source>
            <translation>{0} enthält Baumköpfe: Sie werden mit dem Lauf verglichen.</translation>
        </message>
        <message>
            <source>{0} holds weights: compare them after the replay.</source>
            <translation>{0} enthält Gewichte: Vergleichen Sie sie nach der Nachrechnung.</translation>
        </message>
        <message>
            <source>{0} holds weights: open the run that they should come from first.</source>
            <translation>{0} enthält Gewichte: Öffnen Sie zuerst den Lauf, aus dem sie stammen sollen.</translation>
        </message>
        <message>
            <source>{0} holds weights: they are compared with the run.</source>
            <translation>{0} enthält Gewichte: Sie werden mit dem Lauf verglichen.</translation>
        </message>
        <message>
            <source>{0} is a dispute capsule: it can be adjudicated here.</source>
            <translation>{0} ist eine Streitfallkapsel: Hier kann über sie entschieden werden.</translation>
        </message>
        <message>
            <source>{0} is a list of revoked keys: you are asked who signed it.</source>
            <translation>{0} ist eine Liste widerrufener Schlüssel: Sie werden gefragt, wer sie unterschrieben hat.</translation>
        </message>
        <message>
            <source>{0} is a private key: you are asked whether you sign with it.</source>
            <translation>{0} ist ein privater Schlüssel: Sie werden gefragt, ob Sie damit unterschreiben.</translation>
        </message>
        <message>
            <source>{0} is a public key: you are asked whose it is.</source>
            <translation>{0} ist ein öffentlicher Schlüssel: Sie werden gefragt, wem er gehört.</translation>
        </message>
        <message>
            <source>{0} is a run.</source>
            <translation>{0} ist ein Lauf.</translation>
        </message>
        <message>
            <source>{0} is a run: it is opened.</source>
            <translation>{0} ist ein Lauf: Er wird geöffnet.</translation>
        </message>
        <message>
            <source>{0} is a signed statement: its signature is checked, and it is shown.</source>
            <translation>{0} ist eine unterschriebene Aussage: Die Unterschrift wird geprüft, und sie wird gezeigt.</translation>
        </message>
        <message>
            <source>{0} is a verdict: its signature is checked, and it is read.</source>
            <translation>{0} ist ein Urteil: Seine Unterschrift wird geprüft, und es wird gelesen.</translation>
        </message>
        <message>
            <source>{0} is about a verdict: drop it together with that verdict.</source>
            <translation>{0} handelt von einem Urteil: Legen Sie es zusammen mit diesem Urteil ab.</translation>
        </message>
        <message>
            <source>{0} is an order: a run is compared with it.</source>
            <translation>{0} ist ein Auftrag: Ein Lauf wird damit verglichen.</translation>
        </message>
        <message>
            <source>{0} is no file that Counterfoil reads.</source>
            <translation>{0} ist keine Datei, die Counterfoil liest.</translation>
        </message>
        <message>
            <source>{0} is offered when you sign.</source>
            <translation>{0} wird angeboten, wenn Sie unterschreiben.</translation>
        </message>
        <message>
            <source>{0} is remembered; compare with it after the replay.</source>
            <translation>{0} ist gemerkt; vergleichen Sie nach der Nachrechnung damit.</translation>
        </message>
        <message>
            <source>{0} is sealed: you are asked for the key that opens it.</source>
            <translation>{0} ist versiegelt: Sie werden nach dem Schlüssel gefragt, der die Datei öffnet.</translation>
        </message>
        <message>
            <source>{0} is the data file.</source>
            <translation>{0} ist die Datendatei.</translation>
        </message>
        <message>
            <source>{0} is the log of a witness: it is compared with runs.</source>
            <translation>{0} ist das Protokoll eines Zeugen: Es wird mit Läufen verglichen.</translation>
        </message>
        <message>
            <source>{0} is the order.</source>
            <translation>{0} ist der Auftrag.</translation>
        </message>
        <message>
            <source>{0} is what a model answered: it is checked with the model.</source>
            <translation>{0} ist, was ein Modell geantwortet hat: Es wird mit dem Modell geprüft.</translation>
        </message>
        <message>
            <source>{0} runs are queued.</source>
            <translation>{0} Läufe sind in der Warteschlange.</translation>
        </message>
        <message>
            <source>{0} says something of a verdict: it is shown with that verdict.</source>
            <translation>{0} sagt etwas über ein Urteil: Es wird mit diesem gezeigt.</translation>
        </message>
    </context>
    <context>
        <name>EditDesk</name>
        <message>
            <source>&amp;Copy</source>
            <translation>&amp;Kopieren</translation>
        </message>
        <message>
            <source>Choose all where the keyboard is (Ctrl+A)</source>
            <translation>Alles auswählen, wo die Tastatur ist (Strg+A)</translation>
        </message>
        <message>
            <source>Copied: {0}</source>
            <translation>Kopiert: {0}</translation>
        </message>
        <message>
            <source>Copy a &amp;link</source>
            <translation>&amp;Link kopieren</translation>
        </message>
        <message>
            <source>Copy the command that shows this step of this run, for a report</source>
            <translation>Den Befehl kopieren, der diesen Schritt dieses Laufs zeigt, für einen Bericht</translation>
        </message>
        <message>
            <source>Copy what is chosen where the keyboard is (Ctrl+C)</source>
            <translation>Kopieren, was ausgewählt ist, wo die Tastatur ist (Strg+C)</translation>
        </message>
        <message>
            <source>Select &amp;all</source>
            <translation>&amp;Alles auswählen</translation>
        </message>
    </context>
    <context>
        <name>ElidedLabel</name>
        <message>
            <source>Copy</source>
            <translation>Kopieren</translation>
        </message>
    </context>
    <context>
        <name>ExceptionDialog</name>
        <message>
            <source>&amp;Copy details</source>
            <translation>Einzelheiten &amp;kopieren</translation>
        </message>
        <message>
            <source>Counterfoil itself made a mistake.</source>
            <translation>Counterfoil selbst hat einen Fehler gemacht.</translation>
        </message>
        <message>
            <source>Counterfoil: unexpected error</source>
            <translation>Counterfoil: unerwarteter Fehler</translation>
        </message>
        <message>
            <source>Details to copy</source>
            <translation>Einzelheiten zum Kopieren</translation>
        </message>
        <message>
            <source>Error</source>
            <translation>Fehler</translation>
        </message>
        <message>
            <source>Nothing was sent. The details are kept on this machine: {0}</source>
            <translation>Es wurde nichts gesendet. Die Einzelheiten liegen auf diesem Rechner: {0}</translation>
        </message>
        <message>
            <source>The window stays open, and no verdict was changed by this. Please report it with the details below; they hold file names and versions, and no keys.</source>
            <translation>Das Fenster bleibt offen, und kein Urteil wurde dadurch verändert. Bitte melden Sie den Fehler mit den Einzelheiten unten; sie enthalten Dateinamen und Versionen, aber keine Schlüssel.</translation>
        </message>
        <message>
            <source>{0} more since</source>
            <translation>seither {0} weitere</translation>
        </message>
    </context>
    <context>
        <name>FactsDialog</name>
        <message>
            <source>&amp;Copy</source>
            <translation>&amp;Kopieren</translation>
        </message>
        <message>
            <source>Array</source>
            <translation>Datenfeld</translation>
        </message>
        <message>
            <source>As the trainer says</source>
            <translation>Wie der Trainer sagt</translation>
        </message>
        <message>
            <source>Being counted</source>
            <translation>Wird gezählt</translation>
        </message>
        <message>
            <source>Between the two</source>
            <translation>Dazwischen</translation>
        </message>
        <message>
            <source>By the order digest and the run root</source>
            <translation>Durch Auftrags-Hash und Laufwurzel gebunden</translation>
        </message>
        <message>
            <source>By the run root: the counts are part of the state after the last step</source>
            <translation>Durch die Laufwurzel gebunden: Die Zählungen sind Teil des Zustands nach dem letzten Schritt</translation>
        </message>
        <message>
            <source>By the trainer's signature: nobody else measured it</source>
            <translation>Durch die Unterschrift des Trainers gebunden: niemand sonst hat es gemessen</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>Sch&amp;ließen</translation>
        </message>
        <message>
            <source>Client's key</source>
            <translation>Schlüssel des Auftraggebers</translation>
        </message>
        <message>
            <source>Computed in</source>
            <translation>Gerechnet in</translation>
        </message>
        <message>
            <source>Count</source>
            <translation>Zählung</translation>
        </message>
        <message>
            <source>Count &amp;again</source>
            <translation>Noch einmal &amp;zählen</translation>
        </message>
        <message>
            <source>Counted from the order's programs and the steps of the run, by order digest and run root</source>
            <translation>Gezählt aus den Programmen des Auftrags und den Schritten des Laufs; durch Auftrags-Hash und Laufwurzel gebunden</translation>
        </message>
        <message>
            <source>Counted from the schedule of the steps that were run, by order digest and run root. Left out are rows that only fill a shorter batch.</source>
            <translation>Gezählt aus dem Ablauf der ausgeführten Schritte; durch Auftrags-Hash und Laufwurzel gebunden. Weggelassen sind Zeilen, die nur einen kürzeren Batch auffüllen.</translation>
        </message>
        <message>
            <source>Data that the steps read</source>
            <translation>Daten, die die Schritte lesen</translation>
        </message>
        <message>
            <source>Different ones</source>
            <translation>Verschiedene</translation>
        </message>
        <message>
            <source>Digest</source>
            <translation>Digest</translation>
        </message>
        <message>
            <source>Dtype</source>
            <translation>Dtype</translation>
        </message>
        <message>
            <source>Elements read</source>
            <translation>Gelesene Elemente</translation>
        </message>
        <message>
            <source>Epochs</source>
            <translation>Epochen</translation>
        </message>
        <message>
            <source>Facts of {0}</source>
            <translation>Angaben zu {0}</translation>
        </message>
        <message>
            <source>JSON files (*.json)</source>
            <translation>JSON-Dateien (*.json)</translation>
        </message>
        <message>
            <source>Kind</source>
            <translation>Art</translation>
        </message>
        <message>
            <source>Left out</source>
            <translation>Weggelassen</translation>
        </message>
        <message>
            <source>Not counted</source>
            <translation>Nicht gezählt</translation>
        </message>
        <message>
            <source>Nothing is replayed: whether the steps are true, a verdict says, and none of these facts.</source>
            <translation>Es wird nichts nachgerechnet: Ob die Schritte wahr sind, sagt ein Urteil und keine dieser Angaben.</translation>
        </message>
        <message>
            <source>Number</source>
            <translation>Anzahl</translation>
        </message>
        <message>
            <source>Operations</source>
            <translation>Operationen</translation>
        </message>
        <message>
            <source>Operations in all steps</source>
            <translation>Operationen in allen Schritten</translation>
        </message>
        <message>
            <source>Optimizer</source>
            <translation>Optimierer</translation>
        </message>
        <message>
            <source>Order accepted</source>
            <translation>Auftrag angenommen</translation>
        </message>
        <message>
            <source>Order digest</source>
            <translation>Digest des Auftrags</translation>
        </message>
        <message>
            <source>Parameters</source>
            <translation>Parameter</translation>
        </message>
        <message>
            <source>Part of a step</source>
            <translation>Teil des Schritts</translation>
        </message>
        <message>
            <source>Place</source>
            <translation>Stelle</translation>
        </message>
        <message>
            <source>Precision</source>
            <translation>Genauigkeit</translation>
        </message>
        <message>
            <source>Program</source>
            <translation>Programm</translation>
        </message>
        <message>
            <source>Program {0}</source>
            <translation>Programm {0}</translation>
        </message>
        <message>
            <source>Progress of the count</source>
            <translation>Fortschritt der Zählung</translation>
        </message>
        <message>
            <source>Rows read</source>
            <translation>Gelesene Zeilen</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>Run signed</source>
            <translation>Lauf unterschrieben</translation>
        </message>
        <message>
            <source>Save as &amp;JSON…</source>
            <translation>Als &amp;JSON speichern…</translation>
        </message>
        <message>
            <source>Save the facts</source>
            <translation>Angaben speichern</translation>
        </message>
        <message>
            <source>Shape</source>
            <translation>Form</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>Schritte</translation>
        </message>
        <message>
            <source>The count was stopped.</source>
            <translation>Die Zählung wurde angehalten.</translation>
        </message>
        <message>
            <source>The run is opened.</source>
            <translation>Der Lauf wird geöffnet.</translation>
        </message>
        <message>
            <source>Tokens looked up</source>
            <translation>Nachgeschlagene Token</translation>
        </message>
        <message>
            <source>Trainer's key</source>
            <translation>Schlüssel des Trainers</translation>
        </message>
        <message>
            <source>What the run shows</source>
            <translation>Was der Lauf zeigt</translation>
        </message>
        <message>
            <source>What was counted of the answers</source>
            <translation>Was von den Antworten gezählt wurde</translation>
        </message>
        <message>
            <source>What was ordered and run</source>
            <translation>Was beauftragt und ausgeführt wurde</translation>
        </message>
        <message>
            <source>backward</source>
            <translation>rückwärts</translation>
        </message>
        <message>
            <source>convolution</source>
            <translation>Faltung</translation>
        </message>
        <message>
            <source>elementwise</source>
            <translation>elementweise</translation>
        </message>
        <message>
            <source>forward</source>
            <translation>vorwärts</translation>
        </message>
        <message>
            <source>integers</source>
            <translation>ganze Zahlen</translation>
        </message>
        <message>
            <source>matrix product</source>
            <translation>Matrixprodukt</translation>
        </message>
        <message>
            <source>not said</source>
            <translation>nicht angegeben</translation>
        </message>
        <message>
            <source>other</source>
            <translation>andere</translation>
        </message>
        <message>
            <source>reduction</source>
            <translation>Reduktion</translation>
        </message>
        <message>
            <source>the order is not signed</source>
            <translation>der Auftrag ist nicht unterschrieben</translation>
        </message>
        <message>
            <source>update</source>
            <translation>Aktualisierung</translation>
        </message>
        <message>
            <source>{0} of {1} ordered, {2} rows each</source>
            <translation>{0} von {1} beauftragten, je {2} Zeilen</translation>
        </message>
        <message>
            <source>{0} operations in {1} steps</source>
            <translation>{0} Operationen in {1} Schritten</translation>
        </message>
    </context>
    <context>
        <name>FarFileDialog</name>
        <message>
            <source>&amp;Path on {0}</source>
            <translation>&amp;Pfad auf {0}</translation>
        </message>
        <message>
            <source>Looking…</source>
            <translation>Wird nachgesehen…</translation>
        </message>
        <message>
            <source>Names in the folder</source>
            <translation>Namen in dem Ordner</translation>
        </message>
        <message>
            <source>Path on {0}</source>
            <translation>Pfad auf {0}</translation>
        </message>
        <message>
            <source>There are more names; type on.</source>
            <translation>Es gibt mehr Namen; tippen Sie weiter.</translation>
        </message>
        <message>
            <source>{0} – on {1}</source>
            <translation>{0} – auf {1}</translation>
        </message>
    </context>
    <context>
        <name>FileLine</name>
        <message>
            <source>Find it…</source>
            <translation>Suchen…</translation>
        </message>
        <message>
            <source>Find {0}</source>
            <translation>{0} suchen</translation>
        </message>
        <message>
            <source>file moved</source>
            <translation>Datei verschoben</translation>
        </message>
    </context>
    <context>
        <name>Files</name>
        <message>
            <source>A replay of {0} is running.</source>
            <translation>{0} wird gerade nachgerechnet.</translation>
        </message>
        <message>
            <source>Add to the queue</source>
            <translation>Zur Warteschlange hinzufügen</translation>
        </message>
        <message>
            <source>All files (*)</source>
            <translation>Alle Dateien (*)</translation>
        </message>
        <message>
            <source>Choose the data file</source>
            <translation>Die Datendatei wählen</translation>
        </message>
        <message>
            <source>Choose the data file {0}</source>
            <translation>Datendatei {0} wählen</translation>
        </message>
        <message>
            <source>Compare with the client's order</source>
            <translation>Mit dem Auftrag des Auftraggebers vergleichen</translation>
        </message>
        <message>
            <source>Compare without signing</source>
            <translation>Ohne Unterschrift vergleichen</translation>
        </message>
        <message>
            <source>Counterfoil bundles (*.cfoil);;All files (*)</source>
            <translation>Counterfoil-Bündel (*.cfoil);;Alle Dateien (*)</translation>
        </message>
        <message>
            <source>Counterfoil data files (*.cfdata);;All files (*)</source>
            <translation>Counterfoil-Datendateien (*.cfdata);;Alle Dateien (*)</translation>
        </message>
        <message>
            <source>Dispute capsules (*.cfoil)</source>
            <translation>Streitfallkapseln (*.cfoil)</translation>
        </message>
        <message>
            <source>Export step table</source>
            <translation>Schritttabelle exportieren</translation>
        </message>
        <message>
            <source>Go on without signing</source>
            <translation>Ohne Unterschrift fortfahren</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>Öffnen</translation>
        </message>
        <message>
            <source>Open without signing</source>
            <translation>Ohne Unterschrift öffnen</translation>
        </message>
        <message>
            <source>Replay without signing</source>
            <translation>Ohne Unterschrift nachrechnen</translation>
        </message>
        <message>
            <source>Save dispute capsule</source>
            <translation>Streitfallkapsel speichern</translation>
        </message>
        <message>
            <source>Sealed capsules (*.age)</source>
            <translation>Versiegelte Kapseln (*.age)</translation>
        </message>
        <message>
            <source>Stop it and open</source>
            <translation>Abbrechen und öffnen</translation>
        </message>
        <message>
            <source>The result of {0} is not signed: {1}.</source>
            <translation>Das Ergebnis von {0} ist nicht unterschrieben: {1}.</translation>
        </message>
    </context>
    <context>
        <name>FindDesk</name>
        <message>
            <source>Case</source>
            <translation>Fall</translation>
        </message>
        <message>
            <source>Check</source>
            <translation>Prüfung</translation>
        </message>
        <message>
            <source>Fin&amp;d…</source>
            <translation>F&amp;inden…</translation>
        </message>
        <message>
            <source>Find a command, a step, a tensor, a check or a case by its name</source>
            <translation>Einen Befehl, einen Schritt, einen Tensor, eine Prüfung oder einen Fall nach dem Namen finden</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>Schritt</translation>
        </message>
        <message>
            <source>Step {0} of {1}</source>
            <translation>Schritt {0} von {1}</translation>
        </message>
        <message>
            <source>Tensor</source>
            <translation>Tensor</translation>
        </message>
    </context>
    <context>
        <name>FindDialog</name>
        <message>
            <source>&amp;Close</source>
            <translation>&amp;Schließen</translation>
        </message>
        <message>
            <source>A file that moved</source>
            <translation>Eine verschobene Datei</translation>
        </message>
        <message>
            <source>All files (*)</source>
            <translation>Alle Dateien (*)</translation>
        </message>
        <message>
            <source>Being looked for</source>
            <translation>Wird gesucht</translation>
        </message>
        <message>
            <source>Choose the &amp;file…</source>
            <translation>&amp;Datei wählen…</translation>
        </message>
        <message>
            <source>Find {0}</source>
            <translation>{0} suchen</translation>
        </message>
        <message>
            <source>It is not in {0}: {1} files were looked at.</source>
            <translation>In {0} ist sie nicht: {1} Dateien wurden angesehen.</translation>
        </message>
        <message>
            <source>It was</source>
            <translation>Sie lag hier</translation>
        </message>
        <message>
            <source>Look in a f&amp;older…</source>
            <translation>In einem &amp;Ordner suchen…</translation>
        </message>
        <message>
            <source>Not found</source>
            <translation>Nicht gefunden</translation>
        </message>
        <message>
            <source>Not looked for</source>
            <translation>Nicht gesucht</translation>
        </message>
        <message>
            <source>Order digest</source>
            <translation>Digest des Auftrags</translation>
        </message>
        <message>
            <source>Progress of the search</source>
            <translation>Fortschritt der Suche</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>What</source>
            <translation>Was</translation>
        </message>
        <message>
            <source>What is looked for</source>
            <translation>Was gesucht wird</translation>
        </message>
        <message>
            <source>{0} is another file: it does not hold the same.</source>
            <translation>{0} ist eine andere Datei: Sie enthält nicht dasselbe.</translation>
        </message>
        <message>
            <source>{0} is no longer where it was. Choose it, or a folder: a file there is taken only if it holds the same, by its digest, whatever it is called now.</source>
            <translation>{0} liegt nicht mehr, wo sie lag. Wählen Sie die Datei oder einen Ordner: Eine Datei dort wird nur genommen, wenn sie dem Digest nach dasselbe enthält, wie sie jetzt auch heißt.</translation>
        </message>
        <message>
            <source>{0} of {1} files</source>
            <translation>{0} von {1} Dateien</translation>
        </message>
    </context>
    <context>
        <name>FindingView</name>
        <message>
            <source>Before rounding</source>
            <translation>Vor dem Runden</translation>
        </message>
        <message>
            <source>Element</source>
            <translation>Elementindex</translation>
        </message>
        <message>
            <source>Elements computed exactly</source>
            <translation>Exakt gerechnete Elemente</translation>
        </message>
        <message>
            <source>Error, in bounds</source>
            <translation>Fehler, in Schranken</translation>
        </message>
        <message>
            <source>Exact value</source>
            <translation>Exakter Wert</translation>
        </message>
        <message>
            <source>Exact, nearest float64</source>
            <translation>Exakt, nächstes float64</translation>
        </message>
        <message>
            <source>Finding</source>
            <translation>Befund</translation>
        </message>
        <message>
            <source>Replay</source>
            <translation>Nachrechnung</translation>
        </message>
        <message>
            <source>Replay, hexadecimal</source>
            <translation>Nachrechnung, hexadezimal</translation>
        </message>
        <message>
            <source>To the midpoint</source>
            <translation>Bis zur Mitte</translation>
        </message>
        <message>
            <source>Trainer</source>
            <translation>Trainer</translation>
        </message>
        <message>
            <source>Trainer, hexadecimal</source>
            <translation>Trainer, hexadezimal</translation>
        </message>
        <message>
            <source>not known</source>
            <translation>nicht bekannt</translation>
        </message>
    </context>
    <context>
        <name>FollowForm</name>
        <message>
            <source>&amp;Device</source>
            <translation>&amp;Gerät</translation>
        </message>
        <message>
            <source>&amp;Follow</source>
            <translation>&amp;Verfolgen</translation>
        </message>
        <message>
            <source>Counterfoil files (*.cfoil)</source>
            <translation>Counterfoil-Dateien (*.cfoil)</translation>
        </message>
        <message>
            <source>D&amp;ata file</source>
            <translation>D&amp;atendatei</translation>
        </message>
        <message>
            <source>Data (*)</source>
            <translation>Daten (*)</translation>
        </message>
        <message>
            <source>Follow a recording</source>
            <translation>Eine Aufzeichnung verfolgen</translation>
        </message>
        <message>
            <source>It is only watched: nothing is said of whether a step is what was ordered.</source>
            <translation>Ihr wird nur zugesehen: Ob ein Schritt der bestellte ist, wird nicht gesagt.</translation>
        </message>
        <message>
            <source>Re&amp;play each step beside it, and stop at the first lie</source>
            <translation>Jeden Schritt daneben &amp;nachrechnen und bei der ersten Lüge anhalten</translation>
        </message>
        <message>
            <source>Say where the recording lies, and which order it is of.</source>
            <translation>Geben Sie an, wo die Aufzeichnung liegt und zu welchem Auftrag sie gehört.</translation>
        </message>
        <message>
            <source>The &amp;order, as you, the client, kept it</source>
            <translation>Der &amp;Auftrag, wie Sie, der Auftraggeber, ihn behalten haben</translation>
        </message>
        <message>
            <source>The &amp;trainer</source>
            <translation>Der &amp;Trainer</translation>
        </message>
        <message>
            <source>The folder may lie on this machine or on a server whose disk is mounted here. It is only read. It need not be there yet: the beginning is waited for.</source>
            <translation>Der Ordner darf auf diesem Rechner liegen oder auf einem Server, dessen Laufwerk hier eingehängt ist. Er wird nur gelesen. Er muss noch nicht da sein: Auf den Beginn wird gewartet.</translation>
        </message>
        <message>
            <source>The folder of the &amp;recording</source>
            <translation>Der Ordner der &amp;Aufzeichnung</translation>
        </message>
        <message>
            <source>The trainer</source>
            <translation>Der Trainer</translation>
        </message>
        <message>
            <source>Tree &amp;heads that came in</source>
            <translation>&amp;Baumköpfe, die ankamen</translation>
        </message>
        <message>
            <source>Tree heads (*.jsonl)</source>
            <translation>Baumköpfe (*.jsonl)</translation>
        </message>
        <message>
            <source>When the run is finished it is audited: what was replayed by then counts.</source>
            <translation>Ist der Lauf fertig, wird er geprüft: Was bis dahin nachgerechnet ist, zählt.</translation>
        </message>
        <message>
            <source>empty: none are compared</source>
            <translation>leer: Es werden keine verglichen</translation>
        </message>
        <message>
            <source>not known</source>
            <translation>nicht bekannt</translation>
        </message>
        <message>
            <source>only for an order that names one</source>
            <translation>nur für einen Auftrag, der eine nennt</translation>
        </message>
    </context>
    <context>
        <name>HandOverDialog</name>
        <message>
            <source>As one &amp;zip file</source>
            <translation>Als eine &amp;Zip-Datei</translation>
        </message>
        <message>
            <source>Case and parties</source>
            <translation>Fall und Beteiligte</translation>
        </message>
        <message>
            <source>Choose the folder to hand over</source>
            <translation>Den Ordner zum Übergeben wählen</translation>
        </message>
        <message>
            <source>Choose…</source>
            <translation>Wählen…</translation>
        </message>
        <message>
            <source>Folder to hand over</source>
            <translation>Ordner zum Übergeben</translation>
        </message>
        <message>
            <source>Hand over</source>
            <translation>Übergeben</translation>
        </message>
        <message>
            <source>Say where the folder goes.</source>
            <translation>Geben Sie an, wohin der Ordner kommt.</translation>
        </message>
        <message>
            <source>Tell whoever gets it the id of your key, which {0} names, by another way: anybody can put a key into a folder.</source>
            <translation>Nennen Sie dem Empfänger die Kennung Ihres Schlüssels, die in {0} steht, auf anderem Weg: Einen Schlüssel in einen Ordner legen kann jeder.</translation>
        </message>
        <message>
            <source>The report is printed and the folder is written…</source>
            <translation>Der Bericht wird gedruckt und der Ordner geschrieben…</translation>
        </message>
        <message>
            <source>There is something of this name already.</source>
            <translation>Unter diesem Namen gibt es schon etwas.</translation>
        </message>
        <message>
            <source>What others get</source>
            <translation>Was andere bekommen</translation>
        </message>
        <message>
            <source>Where it goes</source>
            <translation>Wohin es kommt</translation>
        </message>
        <message>
            <source>Who may read the capsule</source>
            <translation>Wer die Kapsel lesen darf</translation>
        </message>
        <message>
            <source>how to check each of these, with OpenSSL alone and with Counterfoil</source>
            <translation>wie man jedes davon prüft, mit OpenSSL allein und mit Counterfoil</translation>
        </message>
        <message>
            <source>the disputed step with its proofs: anybody can replay it</source>
            <translation>der strittige Schritt mit seinen Beweisen: Jeder kann ihn nachrechnen</translation>
        </message>
        <message>
            <source>the report to print, with a line to sign</source>
            <translation>der Bericht zum Drucken, mit einer Zeile für die Unterschrift</translation>
        </message>
        <message>
            <source>the same report for a browser</source>
            <translation>derselbe Bericht für den Browser</translation>
        </message>
        <message>
            <source>the signed verdict, which is what counts</source>
            <translation>das unterschriebene Urteil, auf das es ankommt</translation>
        </message>
        <message>
            <source>their digests, by which damage on the way shows</source>
            <translation>ihre Prüfsummen, an denen man Schäden unterwegs erkennt</translation>
        </message>
        <message>
            <source>your public key, which checks it</source>
            <translation>Ihr öffentlicher Schlüssel, mit dem man es prüft</translation>
        </message>
        <message>
            <source>{0} goes to others, with all that they need to check it without you.</source>
            <translation>{0} geht an andere, mit allem, was sie brauchen, um es ohne Sie zu prüfen.</translation>
        </message>
    </context>
    <context>
        <name>HeaderView</name>
        <message>
            <source>All {0} steps replayed so far match.</source>
            <translation>Alle {0} bisher nachgerechneten Schritte stimmen überein.</translation>
        </message>
        <message>
            <source>Cannot be accepted</source>
            <translation>Nicht annehmbar</translation>
        </message>
        <message>
            <source>Checking the bundle and preparing the first step.</source>
            <translation>Das Bündel wird geprüft und der erste Schritt vorbereitet.</translation>
        </message>
        <message>
            <source>Found by trial, unsigned: {0}</source>
            <translation>Durch Probieren gefunden, nicht unterschrieben: {0}</translation>
        </message>
        <message>
            <source>Not yet replayed</source>
            <translation>Noch nicht nachgerechnet</translation>
        </message>
        <message>
            <source>Nothing is open</source>
            <translation>Nichts ist geöffnet</translation>
        </message>
        <message>
            <source>Opening</source>
            <translation>Wird geöffnet</translation>
        </message>
        <message>
            <source>Order, not yet run</source>
            <translation>Auftrag, noch nicht ausgeführt</translation>
        </message>
        <message>
            <source>Paused</source>
            <translation>Angehalten</translation>
        </message>
        <message>
            <source>Reading {0}</source>
            <translation>{0} wird gelesen</translation>
        </message>
        <message>
            <source>Replaying</source>
            <translation>Wird nachgerechnet</translation>
        </message>
        <message>
            <source>Step {0} differs.</source>
            <translation>Schritt {0} weicht ab.</translation>
        </message>
        <message>
            <source>Stopping</source>
            <translation>Wird abgebrochen</translation>
        </message>
        <message>
            <source>The replay goes on from the trainer's state of step {0}.</source>
            <translation>Die Nachrechnung geht vom Zustand des Trainers in Schritt {0} aus weiter.</translation>
        </message>
        <message>
            <source>The signed verdict is in {0}.</source>
            <translation>Das unterschriebene Urteil liegt in {0}.</translation>
        </message>
        <message>
            <source>What others get is in {0}.</source>
            <translation>Was andere bekommen, liegt in {0}.</translation>
        </message>
        <message>
            <source>at step {0} of {1}</source>
            <translation>bei Schritt {0} von {1}</translation>
        </message>
        <message>
            <source>{0} left</source>
            <translation>noch {0}</translation>
        </message>
        <message>
            <source>{0}: {1} steps. A replay was stopped. {2}</source>
            <translation>{0}: {1} Schritte. Eine Nachrechnung wurde unterbrochen. {2}</translation>
        </message>
        <message>
            <source>{0}: {1} steps. Another window replays this run at this moment.</source>
            <translation>{0}: {1} Schritte. Ein anderes Fenster rechnet diesen Lauf gerade nach.</translation>
        </message>
        <message>
            <source>{0}: {1} steps. Planned: {2}.</source>
            <translation>{0}: {1} Schritte. Geplant: {2}.</translation>
        </message>
        <message>
            <source>{0}: {1} steps. Replay them on this machine to see whether they come out the same.</source>
            <translation>{0}: {1} Schritte. Rechnen Sie sie auf diesem Rechner nach, um zu sehen, ob dasselbe herauskommt.</translation>
        </message>
        <message>
            <source>{0}: {1} steps. The data lie in a file of their own, {2}: choose it to replay.</source>
            <translation>{0}: {1} Schritte. Die Daten liegen in einer eigenen Datei, {2}: Wählen Sie sie, um nachzurechnen.</translation>
        </message>
    </context>
    <context>
        <name>HelpWindow</name>
        <message>
            <source>Close</source>
            <translation>Schließen</translation>
        </message>
        <message>
            <source>Counterfoil help</source>
            <translation>Hilfe zu Counterfoil</translation>
        </message>
        <message>
            <source>Help page</source>
            <translation>Hilfeseite</translation>
        </message>
        <message>
            <source>Help pages</source>
            <translation>Hilfeseiten</translation>
        </message>
        <message>
            <source>Search all pages</source>
            <translation>In allen Seiten suchen</translation>
        </message>
    </context>
    <context>
        <name>HomeView</name>
        <message>
            <source>Cancel</source>
            <translation>Abbrechen</translation>
        </message>
        <message>
            <source>Cancel recording the sample</source>
            <translation>Das Aufzeichnen des Beispiels abbrechen</translation>
        </message>
        <message>
            <source>Cases</source>
            <translation>Fälle</translation>
        </message>
        <message>
            <source>Home</source>
            <translation>Schreibtisch</translation>
        </message>
        <message>
            <source>Is the training you ordered the training that happened?</source>
            <translation>Ist das Training, das Sie bestellt haben, das Training, das stattfand?</translation>
        </message>
        <message>
            <source>No run at hand? Try one that is recorded on this machine:</source>
            <translation>Kein Lauf zur Hand? Versuchen Sie einen, der auf diesem Rechner aufgezeichnet wird:</translation>
        </message>
        <message>
            <source>Recent files</source>
            <translation>Zuletzt benutzte Dateien</translation>
        </message>
        <message>
            <source>Your cases will lie here: open a run, an order or anything that you were given.</source>
            <translation>Hier werden Ihre Fälle liegen: Öffnen Sie einen Lauf, einen Auftrag oder was Sie sonst erhalten haben.</translation>
        </message>
    </context>
    <context>
        <name>IdentityDialog</name>
        <message>
            <source>Choose your private sealing key</source>
            <translation>Ihren privaten Siegelschlüssel wählen</translation>
        </message>
        <message>
            <source>Choose…</source>
            <translation>Wählen…</translation>
        </message>
        <message>
            <source>It is opened…</source>
            <translation>Wird geöffnet …</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>Öffnen</translation>
        </message>
        <message>
            <source>Open a sealed capsule</source>
            <translation>Versiegelte Kapsel öffnen</translation>
        </message>
        <message>
            <source>Passphrase of the sealing key</source>
            <translation>Passwort des Siegelschlüssels</translation>
        </message>
        <message>
            <source>Passphrase, if it has one</source>
            <translation>Passwort, falls er eines hat</translation>
        </message>
        <message>
            <source>Private sealing keys (*.key);;All files (*)</source>
            <translation>Private Siegelschlüssel (*.key);;Alle Dateien (*)</translation>
        </message>
        <message>
            <source>Your private sealing key</source>
            <translation>Ihr privater Siegelschlüssel</translation>
        </message>
        <message>
            <source>{0} is sealed: only the judges for whom that was done can open it. It is open as long as its window is, in a folder that only you can read.</source>
            <translation>{0} ist versiegelt: Nur die Schiedsrichter, für die das geschah, können die Kapsel öffnen. Sie bleibt offen, solange ihr Fenster offen ist, in einem Ordner, den nur Sie lesen können.</translation>
        </message>
    </context>
    <context>
        <name>ImageGrid</name>
        <message>
            <source>{0} images, with the labels {1}</source>
            <translation>{0} Bilder, mit den Klassen {1}</translation>
        </message>
    </context>
    <context>
        <name>IncomingView</name>
        <message>
            <source>Cancel</source>
            <translation>Abbrechen</translation>
        </message>
        <message>
            <source>Files that are looked at</source>
            <translation>Dateien, die angesehen werden</translation>
        </message>
        <message>
            <source>Files that were looked at</source>
            <translation>Dateien, die angesehen wurden</translation>
        </message>
        <message>
            <source>Stop looking at the files</source>
            <translation>Die Dateien nicht weiter ansehen</translation>
        </message>
        <message>
            <source>{0} of {1} files looked at</source>
            <translation>{0} von {1} Dateien angesehen</translation>
        </message>
        <message>
            <source>{0}, {1} left</source>
            <translation>{0}, noch {1}</translation>
        </message>
    </context>
    <context>
        <name>InquiryDialog</name>
        <message>
            <source>&amp;Stop</source>
            <translation>&amp;Abbrechen</translation>
        </message>
    </context>
    <context>
        <name>JobDialog</name>
        <message>
            <source>Being done</source>
            <translation>In Arbeit</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>Sch&amp;ließen</translation>
        </message>
        <message>
            <source>Done</source>
            <translation>Erledigt</translation>
        </message>
        <message>
            <source>Needed: {0}.</source>
            <translation>Erforderlich: {0}.</translation>
        </message>
        <message>
            <source>Not done</source>
            <translation>Nicht erledigt</translation>
        </message>
        <message>
            <source>Passphrase of the key</source>
            <translation>Passwort des Schlüssels</translation>
        </message>
        <message>
            <source>Progress of the job</source>
            <translation>Fortschritt der Arbeit</translation>
        </message>
        <message>
            <source>Show in &amp;folder</source>
            <translation>Im &amp;Ordner zeigen</translation>
        </message>
        <message>
            <source>The command ended with {0}: what it says is below.</source>
            <translation>Der Befehl endete mit {0}: Was er sagt, steht unten.</translation>
        </message>
        <message>
            <source>The job</source>
            <translation>Die Arbeit</translation>
        </message>
        <message>
            <source>What is written</source>
            <translation>Was geschrieben wird</translation>
        </message>
        <message>
            <source>What the command said</source>
            <translation>Was der Befehl gesagt hat</translation>
        </message>
        <message>
            <source>Written: {0}</source>
            <translation>Geschrieben: {0}</translation>
        </message>
    </context>
    <context>
        <name>JudgesField</name>
        <message>
            <source>&amp;Add a judge's key…</source>
            <translation>Schlüssel eines Schiedsrichters &amp;hinzufügen …</translation>
        </message>
        <message>
            <source>&amp;Open: whoever gets it can read all that</source>
            <translation>&amp;Offen: wer sie bekommt, kann all das lesen</translation>
        </message>
        <message>
            <source>&amp;Remove</source>
            <translation>&amp;Entfernen</translation>
        </message>
        <message>
            <source>&amp;Sealed for judges: nobody else can open it</source>
            <translation>&amp;Versiegelt für Richter: niemand sonst kann sie öffnen</translation>
        </message>
        <message>
            <source>&amp;Without the capsule: nobody but you can show the step</source>
            <translation>&amp;Ohne die Kapsel: niemand außer Ihnen kann den Schritt vorzeigen</translation>
        </message>
        <message>
            <source>A judge's public sealing key</source>
            <translation>Öffentlicher Siegelschlüssel eines Schiedsrichters</translation>
        </message>
        <message>
            <source>Add the public sealing key of a judge, a .pub file.</source>
            <translation>Fügen Sie den öffentlichen Siegelschlüssel eines Schiedsrichters hinzu, eine .pub-Datei.</translation>
        </message>
        <message>
            <source>Only these judges can open the capsule, you neither.</source>
            <translation>Nur diese Schiedsrichter können die Kapsel öffnen, auch Sie nicht.</translation>
        </message>
        <message>
            <source>Public sealing keys (*.pub);;All files (*)</source>
            <translation>Öffentliche Siegelschlüssel (*.pub);;Alle Dateien (*)</translation>
        </message>
        <message>
            <source>Public sealing keys of the judges</source>
            <translation>Öffentliche Siegelschlüssel der Schiedsrichter</translation>
        </message>
        <message>
            <source>Remove the chosen key</source>
            <translation>Gewählten Schlüssel entfernen</translation>
        </message>
        <message>
            <source>Say who may read the capsule.</source>
            <translation>Sagen Sie, wer die Kapsel lesen darf.</translation>
        </message>
        <message>
            <source>What the capsule hands out is being counted.</source>
            <translation>Was die Kapsel herausgibt, wird gezählt.</translation>
        </message>
        <message>
            <source>Whoever gets the capsule can read rows of the data and the state of the model in it.</source>
            <translation>Wer die Kapsel erhält, kann darin Zeilen der Daten und den Zustand des Modells lesen.</translation>
        </message>
        <message>
            <source>Without the capsule others have your word: they can replay the step with the whole run alone.</source>
            <translation>Ohne die Kapsel haben andere Ihr Wort: Nur mit dem ganzen Lauf können sie den Schritt nachrechnen.</translation>
        </message>
    </context>
    <context>
        <name>KeptSearches</name>
        <message>
            <source>&amp;Forget this search</source>
            <translation>Diese Suche &amp;vergessen</translation>
        </message>
        <message>
            <source>Search {0}</source>
            <translation>{0} suchen</translation>
        </message>
        <message>
            <source>Search {0}; Delete forgets it</source>
            <translation>{0} suchen; Entf vergisst es</translation>
        </message>
    </context>
    <context>
        <name>KeyDesk</name>
        <message>
            <source>Add a public key</source>
            <translation>Einen öffentlichen Schlüssel hinzufügen</translation>
        </message>
        <message>
            <source>Lists of keys (*.json)</source>
            <translation>Schlüssellisten (*.json)</translation>
        </message>
        <message>
            <source>Public keys (*.pub.pem *.pem)</source>
            <translation>Öffentliche Schlüssel (*.pub.pem *.pem)</translation>
        </message>
        <message>
            <source>Save the public key</source>
            <translation>Den öffentlichen Schlüssel speichern</translation>
        </message>
        <message>
            <source>The key {0} is known: {1}, {2}.</source>
            <translation>Der Schlüssel {0} ist bekannt: {1}, {2}.</translation>
        </message>
        <message>
            <source>The list of revoked keys</source>
            <translation>Die Liste widerrufener Schlüssel</translation>
        </message>
        <message>
            <source>The public key of whoever signed it</source>
            <translation>Der öffentliche Schlüssel dessen, der sie signiert hat</translation>
        </message>
    </context>
    <context>
        <name>KeyProposalDialog</name>
        <message>
            <source>&amp;Do not trust it</source>
            <translation>Ihm &amp;nicht vertrauen</translation>
        </message>
        <message>
            <source>&amp;Key of</source>
            <translation>&amp;Schlüssel von</translation>
        </message>
        <message>
            <source>&amp;Name</source>
            <translation>&amp;Name</translation>
        </message>
        <message>
            <source>&amp;Trust this key</source>
            <translation>Diesem Schlüssel &amp;vertrauen</translation>
        </message>
        <message>
            <source>A key that you do not know</source>
            <translation>Ein Schlüssel, den Sie nicht kennen</translation>
        </message>
        <message>
            <source>Anybody can make a key and call it somebody's. Compare the fingerprint with the owner's by another way than the one this file came, for instance on the telephone. Until you trust it, nothing that it signed counts.</source>
            <translation>Jeder kann einen Schlüssel erzeugen und ihn jemandem zuschreiben. Vergleichen Sie den Fingerabdruck mit dem des Besitzers auf einem anderen Weg als dem, auf dem diese Datei kam, zum Beispiel am Telefon. Solange Sie ihm nicht vertrauen, gilt nichts, was er unterschrieben hat.</translation>
        </message>
        <message>
            <source>Came from</source>
            <translation>Herkunft</translation>
        </message>
        <message>
            <source>Do you trust this key?</source>
            <translation>Vertrauen Sie diesem Schlüssel?</translation>
        </message>
        <message>
            <source>Fingerprint</source>
            <translation>Fingerabdruck</translation>
        </message>
        <message>
            <source>I have &amp;compared the fingerprint with its owner's</source>
            <translation>Ich habe den Fingerabdruck mit dem des Besitzers ver&amp;glichen</translation>
        </message>
        <message>
            <source>Orders that this key signed will be this client's.</source>
            <translation>Aufträge, die dieser Schlüssel unterschrieben hat, sind dann die dieses Auftraggebers.</translation>
        </message>
        <message>
            <source>Runs that this key signed will be this trainer's.</source>
            <translation>Läufe, die dieser Schlüssel unterschrieben hat, sind dann die dieses Trainers.</translation>
        </message>
        <message>
            <source>This key signed the run itself. A trainer cannot audit itself: what it says of its own run shows nothing.</source>
            <translation>Dieser Schlüssel hat den Lauf selbst unterschrieben. Ein Trainer kann sich nicht selbst prüfen: Was er über seinen eigenen Lauf sagt, zeigt nichts.</translation>
        </message>
        <message>
            <source>Verdicts that this key signed will count, whoever brings them.</source>
            <translation>Urteile, die dieser Schlüssel unterschrieben hat, gelten dann, wer immer sie bringt.</translation>
        </message>
        <message>
            <source>whose key it is</source>
            <translation>wessen Schlüssel es ist</translation>
        </message>
    </context>
    <context>
        <name>KeysDialog</name>
        <message>
            <source>&amp;Add a key…</source>
            <translation>Schlüssel &amp;hinzufügen…</translation>
        </message>
        <message>
            <source>&amp;Close</source>
            <translation>&amp;Schließen</translation>
        </message>
        <message>
            <source>&amp;Name</source>
            <translation>&amp;Name</translation>
        </message>
        <message>
            <source>&amp;Rename</source>
            <translation>&amp;Umbenennen</translation>
        </message>
        <message>
            <source>&amp;Save public key…</source>
            <translation>Öffentlichen Schlüssel &amp;speichern…</translation>
        </message>
        <message>
            <source>C&amp;opy public key</source>
            <translation>Öffentlichen Schlüssel &amp;kopieren</translation>
        </message>
        <message>
            <source>Came from</source>
            <translation>Herkunft</translation>
        </message>
        <message>
            <source>Does not count</source>
            <translation>Zählt nicht</translation>
        </message>
        <message>
            <source>Fingerprint</source>
            <translation>Fingerabdruck</translation>
        </message>
        <message>
            <source>Key of</source>
            <translation>Schlüssel von</translation>
        </message>
        <message>
            <source>Keys</source>
            <translation>Tasten</translation>
        </message>
        <message>
            <source>List {0} of revoked keys, of {1}, with {2} keys; signed with the key {3}.</source>
            <translation>Liste {0} widerrufener Schlüssel vom {1} mit {2} Schlüsseln; signiert mit dem Schlüssel {3}.</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>Name</translation>
        </message>
        <message>
            <source>Name of this key</source>
            <translation>Name dieses Schlüssels</translation>
        </message>
        <message>
            <source>No key is known yet. Add the public keys of auditors and trainers here, or drop them on the window; your own comes in when you first sign.</source>
            <translation>Noch ist kein Schlüssel bekannt. Fügen Sie hier die öffentlichen Schlüssel von Prüfern und Trainern hinzu, oder legen Sie sie auf dem Fenster ab; Ihr eigener kommt hinzu, wenn Sie zum ersten Mal unterschreiben.</translation>
        </message>
        <message>
            <source>No list of revoked keys is known.</source>
            <translation>Es ist keine Liste widerrufener Schlüssel bekannt.</translation>
        </message>
        <message>
            <source>Orders whose runs it signed</source>
            <translation>Aufträge, deren Läufe er unterschrieb</translation>
        </message>
        <message>
            <source>Re&amp;move…</source>
            <translation>Ent&amp;fernen…</translation>
        </message>
        <message>
            <source>Since</source>
            <translation>Seit</translation>
        </message>
        <message>
            <source>Take in a &amp;list of revoked keys…</source>
            <translation>&amp;Liste widerrufener Schlüssel aufnehmen…</translation>
        </message>
        <message>
            <source>The public key of {0} is copied.</source>
            <translation>Der öffentliche Schlüssel von {0} ist kopiert.</translation>
        </message>
        <message>
            <source>Trainers: {0}. Auditors: {1}. Clients: {2}. Your own: {3}.</source>
            <translation>Trainer: {0}. Prüfer: {1}. Auftraggeber: {2}. Ihre eigenen: {3}.</translation>
        </message>
        <message>
            <source>no name yet</source>
            <translation>noch ohne Namen</translation>
        </message>
    </context>
    <context>
        <name>LedgerDialog</name>
        <message>
            <source>&amp;Auditors…</source>
            <translation>&amp;Prüfer…</translation>
        </message>
        <message>
            <source>&amp;Disputes ({0})</source>
            <translation>&amp;Streitfälle ({0})</translation>
        </message>
        <message>
            <source>&amp;Not counted ({0})</source>
            <translation>Nicht &amp;gezählt ({0})</translation>
        </message>
        <message>
            <source>&amp;Proposed rate</source>
            <translation>&amp;Vorschlag</translation>
        </message>
        <message>
            <source>&amp;Runs ({0})</source>
            <translation>Läu&amp;fe ({0})</translation>
        </message>
        <message>
            <source>A folder with verdicts</source>
            <translation>Ein Ordner mit Urteilen</translation>
        </message>
        <message>
            <source>Auditor</source>
            <translation>Prüfer</translation>
        </message>
        <message>
            <source>Being read</source>
            <translation>Wird gelesen</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>Sch&amp;ließen</translation>
        </message>
        <message>
            <source>Choose a folder with signed verdicts, adjudications, withdrawals and replies, or drop it here.</source>
            <translation>Wählen Sie einen Ordner mit unterschriebenen Urteilen, Schiedssprüchen, Widerrufen und Erwiderungen, oder ziehen Sie ihn hierher.</translation>
        </message>
        <message>
            <source>Choose the &amp;folder…</source>
            <translation>&amp;Ordner wählen…</translation>
        </message>
        <message>
            <source>Clean</source>
            <translation>Sauber</translation>
        </message>
        <message>
            <source>Clean runs after a dispute</source>
            <translation>Saubere Läufe nach einem Streitfall</translation>
        </message>
        <message>
            <source>Disputed</source>
            <translation>Strittig</translation>
        </message>
        <message>
            <source>Disputes of the trainer's runs</source>
            <translation>Streitfälle der Läufe des Trainers</translation>
        </message>
        <message>
            <source>File</source>
            <translation>Datei</translation>
        </message>
        <message>
            <source>Files that do not count</source>
            <translation>Dateien, die nicht zählen</translation>
        </message>
        <message>
            <source>It follows from a model: each run of a trainer is bad with the same unknown probability. Which segments are replayed must stay unknown until the run is signed.</source>
            <translation>Das folgt aus einem Modell: Jeder Lauf eines Trainers ist mit derselben unbekannten Wahrscheinlichkeit schlecht. Welche Segmente nachgerechnet werden, muss unbekannt bleiben, bis der Lauf unterschrieben ist.</translation>
        </message>
        <message>
            <source>Last signed</source>
            <translation>Zuletzt unterschrieben</translation>
        </message>
        <message>
            <source>Least share of bad segments</source>
            <translation>Kleinster Anteil schlechter Segmente</translation>
        </message>
        <message>
            <source>Ledger: what verdicts say of trainers</source>
            <translation>Verzeichnis: was Urteile über Trainer sagen</translation>
        </message>
        <message>
            <source>No auditor is chosen, so no verdict counts.</source>
            <translation>Kein Prüfer ist gewählt, also zählt kein Urteil.</translation>
        </message>
        <message>
            <source>No run was disputed</source>
            <translation>Kein Lauf ist strittig</translation>
        </message>
        <message>
            <source>No verdict in {0} counts, so nothing is known of any trainer.</source>
            <translation>In {0} zählt kein Urteil, also ist über keinen Trainer etwas bekannt.</translation>
        </message>
        <message>
            <source>Not read</source>
            <translation>Nicht gelesen</translation>
        </message>
        <message>
            <source>Nothing counts</source>
            <translation>Nichts zählt</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>Auftrag</translation>
        </message>
        <message>
            <source>Progress of the reading</source>
            <translation>Fortschritt des Lesens</translation>
        </message>
        <message>
            <source>Read a&amp;gain</source>
            <translation>&amp;Noch einmal lesen</translation>
        </message>
        <message>
            <source>Replay of the next run</source>
            <translation>Vom nächsten Lauf nachzurechnen</translation>
        </message>
        <message>
            <source>Replay {0} of {1} segments of the next run.</source>
            <translation>Rechnen Sie {0} von {1} Segmenten des nächsten Laufs nach.</translation>
        </message>
        <message>
            <source>Replayed at most</source>
            <translation>Höchstens nachgerechnet</translation>
        </message>
        <message>
            <source>Risk that it is bad and passes</source>
            <translation>Risiko, dass er schlecht ist und durchgeht</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>Lauf</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>Läufe</translation>
        </message>
        <message>
            <source>Runs of the trainer</source>
            <translation>Läufe des Trainers</translation>
        </message>
        <message>
            <source>Runs were disputed</source>
            <translation>Es gibt strittige Läufe</translation>
        </message>
        <message>
            <source>Says</source>
            <translation>Sagt</translation>
        </message>
        <message>
            <source>Segments of the next run</source>
            <translation>Segmente des nächsten Laufs</translation>
        </message>
        <message>
            <source>Share that is always replayed</source>
            <translation>Anteil, der immer nachgerechnet wird</translation>
        </message>
        <message>
            <source>Signed</source>
            <translation>Unterschrieben</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>Schritt</translation>
        </message>
        <message>
            <source>The reading of {0} was stopped.</source>
            <translation>Das Lesen von {0} wurde angehalten.</translation>
        </message>
        <message>
            <source>Together</source>
            <translation>Zusammen</translation>
        </message>
        <message>
            <source>Trainer</source>
            <translation>Trainer</translation>
        </message>
        <message>
            <source>Trainer answered</source>
            <translation>Trainer erwiderte</translation>
        </message>
        <message>
            <source>Trainers</source>
            <translation>Trainer</translation>
        </message>
        <message>
            <source>Undecided</source>
            <translation>Unentschieden</translation>
        </message>
        <message>
            <source>Verdicts</source>
            <translation>Urteile</translation>
        </message>
        <message>
            <source>Verdicts count that are signed by: {0}. What nobody put into the folder is not known.</source>
            <translation>Es zählen Urteile, die unterschrieben sind von: {0}. Was niemand in den Ordner gelegt hat, ist nicht bekannt.</translation>
        </message>
        <message>
            <source>What is known of the trainer</source>
            <translation>Was über den Trainer bekannt ist</translation>
        </message>
        <message>
            <source>What verdicts say of trainers</source>
            <translation>Was Urteile über Trainer sagen</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>Was gefunden wurde</translation>
        </message>
        <message>
            <source>Whose verdicts count</source>
            <translation>Wessen Urteile zählen</translation>
        </message>
        <message>
            <source>Why it does not count</source>
            <translation>Warum sie nicht zählt</translation>
        </message>
        <message>
            <source>You know no auditor's key, so no verdict counts: add one under Keys, Keys.</source>
            <translation>Sie kennen keinen Schlüssel eines Prüfers, deshalb zählt kein Urteil: Fügen Sie einen unter Schlüssel, Schlüssel hinzu.</translation>
        </message>
        <message>
            <source>disputed</source>
            <translation>strittig</translation>
        </message>
        <message>
            <source>no</source>
            <translation>nein</translation>
        </message>
        <message>
            <source>yes</source>
            <translation>ja</translation>
        </message>
        <message>
            <source>{0} of {1} files</source>
            <translation>{0} von {1} Dateien</translation>
        </message>
        <message>
            <source>{0} of {1} segments</source>
            <translation>{0} von {1} Segmenten</translation>
        </message>
        <message>
            <source>{0}: trainers {1}, runs {2}, disputed {3}, files that do not count {4}.</source>
            <translation>{0}: Trainer {1}, Läufe {2}, strittig {3}, Dateien, die nicht zählen, {4}.</translation>
        </message>
    </context>
    <context>
        <name>LocateDialog</name>
        <message>
            <source>&amp;Close</source>
            <translation>&amp;Schließen</translation>
        </message>
        <message>
            <source>&amp;Find the hash</source>
            <translation>&amp;Hash suchen</translation>
        </message>
        <message>
            <source>64 hexadecimal digits: a run root, the root of a state, a tensor digest, a chunk's hash</source>
            <translation>64 Hexadezimalziffern: eine Laufwurzel, die Wurzel eines Zustands, ein Tensor-Hash, der Hash eines Blocks</translation>
        </message>
        <message>
            <source>After step</source>
            <translation>Nach Schritt</translation>
        </message>
        <message>
            <source>All tensors are those of the run, as they are or cast to a smaller dtype.</source>
            <translation>Alle Tensoren sind die des Laufs, wie sie sind oder in einen kleineren Typ umgewandelt.</translation>
        </message>
        <message>
            <source>Being looked for</source>
            <translation>Wird gesucht</translation>
        </message>
        <message>
            <source>Choose &amp;weights…</source>
            <translation>&amp;Gewichte wählen…</translation>
        </message>
        <message>
            <source>Find in the run {0}</source>
            <translation>Im Lauf {0} suchen</translation>
        </message>
        <message>
            <source>Found in this run</source>
            <translation>In diesem Lauf gefunden</translation>
        </message>
        <message>
            <source>Found means that this run holds it. Whether the run is what was ordered, a verdict says.</source>
            <translation>Gefunden heißt, dass dieser Lauf es enthält. Ob der Lauf ist, was bestellt wurde, sagt ein Urteil.</translation>
        </message>
        <message>
            <source>Hash</source>
            <translation>Hash</translation>
        </message>
        <message>
            <source>It is {0}, after step {1}.</source>
            <translation>Es ist {0}, nach Schritt {1}.</translation>
        </message>
        <message>
            <source>It is {0}.</source>
            <translation>Es ist {0}.</translation>
        </message>
        <message>
            <source>It stands at further places: {0}.</source>
            <translation>Es steht an weiteren Stellen: {0}.</translation>
        </message>
        <message>
            <source>No stored state of this run has a tensor in common with these weights.</source>
            <translation>Kein gespeicherter Zustand dieses Laufs hat einen Tensor mit diesen Gewichten gemeinsam.</translation>
        </message>
        <message>
            <source>No stored state of this run is these weights. Nearest is step {0}: {1}.</source>
            <translation>Kein gespeicherter Zustand dieses Laufs ist diese Gewichte. Am nächsten liegt Schritt {0}: {1}.</translation>
        </message>
        <message>
            <source>Not in this run</source>
            <translation>Nicht in diesem Lauf</translation>
        </message>
        <message>
            <source>Not looked for</source>
            <translation>Nicht gesucht</translation>
        </message>
        <message>
            <source>Nothing that this run stores or digests has this hash.</source>
            <translation>Nichts, was dieser Lauf speichert oder hasht, hat diesen Hash.</translation>
        </message>
        <message>
            <source>Paste a hash, or choose weights or drop them here. Nothing is replayed.</source>
            <translation>Fügen Sie einen Hash ein, oder wählen Sie Gewichte oder ziehen Sie sie hierher. Nichts wird nachgerechnet.</translation>
        </message>
        <message>
            <source>Progress of the search</source>
            <translation>Fortschritt der Suche</translation>
        </message>
        <message>
            <source>Result</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>Lauf</translation>
        </message>
        <message>
            <source>The run is read up to the root that its trainer signed, and every stored state compared.</source>
            <translation>Der Lauf wird bis zu der Wurzel gelesen, die sein Trainer unterschrieben hat, und jeder gespeicherte Zustand verglichen.</translation>
        </message>
        <message>
            <source>The search was stopped.</source>
            <translation>Die Suche wurde angehalten.</translation>
        </message>
        <message>
            <source>The weights after several steps</source>
            <translation>Die Gewichte nach mehreren Schritten</translation>
        </message>
        <message>
            <source>The weights after step {0}</source>
            <translation>Die Gewichte nach Schritt {0}</translation>
        </message>
        <message>
            <source>They are the state after each of these steps: {0}.</source>
            <translation>Sie sind der Zustand nach jedem dieser Schritte: {0}.</translation>
        </message>
        <message>
            <source>Weights</source>
            <translation>Gewichte</translation>
        </message>
        <message>
            <source>Weights (*.safetensors);;All files (*)</source>
            <translation>Gewichte (*.safetensors);;Alle Dateien (*)</translation>
        </message>
        <message>
            <source>Weights between two stored states, or of a step that is not stored, cannot be found.</source>
            <translation>Gewichte zwischen zwei gespeicherten Zuständen, oder eines Schritts, der nicht gespeichert ist, lassen sich nicht finden.</translation>
        </message>
        <message>
            <source>Weights to be found</source>
            <translation>Gewichte, die gesucht werden</translation>
        </message>
        <message>
            <source>What</source>
            <translation>Was</translation>
        </message>
        <message>
            <source>What is in a state that is digested and not stored cannot be found.</source>
            <translation>Was in einem Zustand steht, der gehasht und nicht gespeichert ist, lässt sich nicht finden.</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>Was gefunden wurde</translation>
        </message>
        <message>
            <source>Where it stands</source>
            <translation>Wo es steht</translation>
        </message>
        <message>
            <source>Which step holds it?</source>
            <translation>Welcher Schritt enthält es?</translation>
        </message>
        <message>
            <source>another state</source>
            <translation>ein anderer Zustand</translation>
        </message>
        <message>
            <source>here</source>
            <translation>hier</translation>
        </message>
        <message>
            <source>these weights</source>
            <translation>diese Gewichte</translation>
        </message>
    </context>
    <context>
        <name>LogTable</name>
        <message>
            <source>Kind</source>
            <translation>Art</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>Zeit</translation>
        </message>
        <message>
            <source>What happened</source>
            <translation>Was geschah</translation>
        </message>
        <message>
            <source>error</source>
            <translation>Fehler</translation>
        </message>
        <message>
            <source>good</source>
            <translation>gut</translation>
        </message>
        <message>
            <source>note</source>
            <translation>Notiz</translation>
        </message>
        <message>
            <source>warning</source>
            <translation>Warnung</translation>
        </message>
    </context>
    <context>
        <name>LogView</name>
        <message>
            <source>Clear</source>
            <translation>Leeren</translation>
        </message>
        <message>
            <source>Copy all</source>
            <translation>Alles kopieren</translation>
        </message>
        <message>
            <source>Copy every line with its details, for a report</source>
            <translation>Jede Zeile mit ihren Einzelheiten kopieren, für eine Fehlermeldung</translation>
        </message>
        <message>
            <source>Copy the chosen lines</source>
            <translation>Gewählte Zeilen kopieren</translation>
        </message>
        <message>
            <source>Empty the log; nothing else is forgotten</source>
            <translation>Das Protokoll leeren; sonst wird nichts vergessen</translation>
        </message>
        <message>
            <source>Log</source>
            <translation>Protokoll</translation>
        </message>
        <message>
            <source>{0} lines</source>
            <translation>{0} Zeilen</translation>
        </message>
        <message>
            <source>{0}, errors: {1}</source>
            <translation>{0}, Fehler: {1}</translation>
        </message>
    </context>
    <context>
        <name>LongJobs</name>
        <message>
            <source>Replaying {0}</source>
            <translation>{0} wird nachgerechnet</translation>
        </message>
        <message>
            <source>The replay of {0} ended without a verdict</source>
            <translation>Die Nachrechnung von {0} endete ohne Urteil</translation>
        </message>
    </context>
    <context>
        <name>LookView</name>
        <message>
            <source>At the trainer's next stored state all tensors are equal: there is nothing that would change.</source>
            <translation>Im nächsten gespeicherten Zustand des Trainers sind alle Tensoren gleich: nichts würde sich ändern.</translation>
        </message>
        <message>
            <source>Both sides of a tensor, and what would change</source>
            <translation>Beide Seiten eines Tensors, und was sich ändern würde</translation>
        </message>
        <message>
            <source>It can be looked at when the replay has ended.</source>
            <translation>Das lässt sich ansehen, wenn die Nachrechnung beendet ist.</translation>
        </message>
        <message>
            <source>Tensor</source>
            <translation>Tensor</translation>
        </message>
        <message>
            <source>Tensor that is compared</source>
            <translation>Tensor, der verglichen wird</translation>
        </message>
        <message>
            <source>The first operator that differs, with its inputs</source>
            <translation>Der erste abweichende Operator mit seinen Eingaben</translation>
        </message>
        <message>
            <source>The rows that the step read, beside the ordered ones</source>
            <translation>Die Zeilen, die der Schritt las, neben den beauftragten</translation>
        </message>
        <message>
            <source>The trainer stored no later state: of the state after this step the run holds a digest alone, so that no element of the trainer's can be shown.</source>
            <translation>Der Trainer hat keinen späteren Zustand gespeichert: Vom Zustand nach diesem Schritt enthält der Lauf nur einen Digest, sodass kein Element des Trainers gezeigt werden kann.</translation>
        </message>
    </context>
    <context>
        <name>LookupDesk</name>
        <message>
            <source>&amp;Facts of the run…</source>
            <translation>Angaben &amp;zum Lauf…</translation>
        </message>
        <message>
            <source>Check r&amp;ules…</source>
            <translation>&amp;Regeln prüfen…</translation>
        </message>
        <message>
            <source>Count what the run shows of itself: operations, rows, parameters, settings; nothing is replayed</source>
            <translation>Zählt, was der Lauf von sich zeigt: Operationen, Zeilen, Parameter, Einstellungen; nichts wird nachgerechnet</translation>
        </message>
        <message>
            <source>Find a &amp;hash or weights…</source>
            <translation>Hash oder Gewichte &amp;suchen…</translation>
        </message>
        <message>
            <source>Led&amp;ger of verdicts…</source>
            <translation>&amp;Verzeichnis der Urteile…</translation>
        </message>
        <message>
            <source>Say which step of the open run holds a hash or a file of weights; nothing is replayed</source>
            <translation>Sagen, welcher Schritt des offenen Laufs einen Hash oder eine Datei mit Gewichten enthält; nichts wird nachgerechnet</translation>
        </message>
        <message>
            <source>See what a folder of verdicts says of each trainer, and how much of the next run to replay</source>
            <translation>Sehen, was ein Ordner mit Urteilen über jeden Trainer sagt, und wie viel vom nächsten Lauf nachzurechnen ist</translation>
        </message>
        <message>
            <source>See which rules the run holds, which it breaks, and which cannot be told</source>
            <translation>Zeigt, welche Regeln der Lauf einhält, welche er bricht und welche sich nicht entscheiden lassen</translation>
        </message>
    </context>
    <context>
        <name>MachineDialog</name>
        <message>
            <source>&amp;Copy the page</source>
            <translation>Seite &amp;kopieren</translation>
        </message>
        <message>
            <source>&amp;Examine again</source>
            <translation>&amp;Erneut untersuchen</translation>
        </message>
        <message>
            <source>Being examined</source>
            <translation>Wird untersucht</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>Sch&amp;ließen</translation>
        </message>
        <message>
            <source>Found</source>
            <translation>Gefunden</translation>
        </message>
        <message>
            <source>Not examined</source>
            <translation>Nicht untersucht</translation>
        </message>
        <message>
            <source>Part</source>
            <translation>Bereich</translation>
        </message>
        <message>
            <source>Progress of the examination</source>
            <translation>Fortschritt der Untersuchung</translation>
        </message>
        <message>
            <source>State</source>
            <translation>Zustand</translation>
        </message>
        <message>
            <source>The examination was stopped.</source>
            <translation>Die Untersuchung wurde angehalten.</translation>
        </message>
        <message>
            <source>The machine</source>
            <translation>Der Rechner</translation>
        </message>
        <message>
            <source>This machine</source>
            <translation>Dieser Rechner</translation>
        </message>
        <message>
            <source>What</source>
            <translation>Was</translation>
        </message>
        <message>
            <source>What this machine has for Counterfoil. Nothing of it is sent anywhere.</source>
            <translation>Was dieser Rechner für Counterfoil mitbringt. Nichts davon wird irgendwohin gesendet.</translation>
        </message>
        <message>
            <source>What to do</source>
            <translation>Was zu tun ist</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>Was gefunden wurde</translation>
        </message>
        <message>
            <source>What {0} has for Counterfoil: it computes for this window.</source>
            <translation>Was {0} für Counterfoil mitbringt: Dort wird für dieses Fenster gerechnet.</translation>
        </message>
        <message>
            <source>fine</source>
            <translation>gut</translation>
        </message>
        <message>
            <source>note</source>
            <translation>Notiz</translation>
        </message>
        <message>
            <source>wrong</source>
            <translation>falsch</translation>
        </message>
    </context>
    <context>
        <name>MainWindow</name>
        <message>
            <source>&amp;Clear recent files</source>
            <translation>Zuletzt geöffnete &amp;vergessen</translation>
        </message>
        <message>
            <source>&amp;Close view</source>
            <translation>Ansicht s&amp;chließen</translation>
        </message>
        <message>
            <source>&amp;Finding</source>
            <translation>&amp;Befund</translation>
        </message>
        <message>
            <source>&amp;Lock my keys</source>
            <translation>Meine Schlüssel s&amp;perren</translation>
        </message>
        <message>
            <source>&amp;Log</source>
            <translation>&amp;Protokoll</translation>
        </message>
        <message>
            <source>&amp;Merkle</source>
            <translation>&amp;Merkle-Baum</translation>
        </message>
        <message>
            <source>&amp;Next view</source>
            <translation>&amp;Nächste Ansicht</translation>
        </message>
        <message>
            <source>&amp;Plots</source>
            <translation>&amp;Kurven</translation>
        </message>
        <message>
            <source>&amp;Queue</source>
            <translation>&amp;Warteschlange</translation>
        </message>
        <message>
            <source>&amp;Quit</source>
            <translation>&amp;Beenden</translation>
        </message>
        <message>
            <source>&amp;Restore layout</source>
            <translation>Anordnung &amp;zurücksetzen</translation>
        </message>
        <message>
            <source>&amp;Steps</source>
            <translation>&amp;Schritte</translation>
        </message>
        <message>
            <source>&amp;Workers…</source>
            <translation>Hel&amp;fer…</translation>
        </message>
        <message>
            <source>A replay of {0} is running.</source>
            <translation>{0} wird gerade nachgerechnet.</translation>
        </message>
        <message>
            <source>Change between the last two runs</source>
            <translation>Zwischen den letzten beiden Läufen wechseln</translation>
        </message>
        <message>
            <source>Chec&amp;ks</source>
            <translation>Prüf&amp;ungen</translation>
        </message>
        <message>
            <source>Close the view that has the keyboard</source>
            <translation>Schließt die Ansicht, die die Tastatur hat</translation>
        </message>
        <message>
            <source>Close without signing</source>
            <translation>Ohne Unterschrift schließen</translation>
        </message>
        <message>
            <source>Counterfoil on {0}</source>
            <translation>Counterfoil auf {0}</translation>
        </message>
        <message>
            <source>Forget the passphrases of your keys at once, which the preferences keep for a while</source>
            <translation>Die Passwörter Ihrer Schlüssel sofort vergessen, die die Einstellungen eine Weile behalten</translation>
        </message>
        <message>
            <source>Go to the desk with all cases; what is open is closed</source>
            <translation>Zum Schreibtisch mit allen Fällen; was offen ist, wird geschlossen</translation>
        </message>
        <message>
            <source>Ho&amp;me</source>
            <translation>Sc&amp;hreibtisch</translation>
        </message>
        <message>
            <source>Name the trainer</source>
            <translation>Trainer benennen</translation>
        </message>
        <message>
            <source>Open the report</source>
            <translation>Bericht öffnen</translation>
        </message>
        <message>
            <source>Pre&amp;vious view</source>
            <translation>V&amp;orige Ansicht</translation>
        </message>
        <message>
            <source>Queue</source>
            <translation>Warteschlange</translation>
        </message>
        <message>
            <source>Reading {0}…</source>
            <translation>{0} wird gelesen…</translation>
        </message>
        <message>
            <source>Recording the sample on this machine: step {0} of {1}.</source>
            <translation>Das Beispiel wird auf diesem Rechner aufgezeichnet: Schritt {0} von {1}.</translation>
        </message>
        <message>
            <source>Recording the sample on this machine: the first step takes some seconds.</source>
            <translation>Das Beispiel wird auf diesem Rechner aufgezeichnet: Der erste Schritt dauert einige Sekunden.</translation>
        </message>
        <message>
            <source>Run &amp;and keys</source>
            <translation>L&amp;auf und Schlüssel</translation>
        </message>
        <message>
            <source>Say whose key signed the run, after comparing it</source>
            <translation>Sagen, wessen Schlüssel den Lauf unterschrieben hat, nachdem er verglichen wurde</translation>
        </message>
        <message>
            <source>Show in folder</source>
            <translation>Im Ordner zeigen</translation>
        </message>
        <message>
            <source>Show where each worker of the replay is, and how fast it goes</source>
            <translation>Zeigen, wo jeder Helfer der Nachrechnung ist und wie schnell er ist</translation>
        </message>
        <message>
            <source>Show without signing</source>
            <translation>Ohne Unterschrift zeigen</translation>
        </message>
        <message>
            <source>Show {0} in the file manager</source>
            <translation>{0} in der Dateiverwaltung zeigen</translation>
        </message>
        <message>
            <source>Something is recorded or followed in this window.</source>
            <translation>In diesem Fenster wird etwas aufgezeichnet oder verfolgt.</translation>
        </message>
        <message>
            <source>Stop it and close</source>
            <translation>Abbrechen und schließen</translation>
        </message>
        <message>
            <source>The engine works on {0}: files are those of that machine, keys are here.</source>
            <translation>Gerechnet wird auf {0}: Die Dateien liegen auf jenem Rechner, die Schlüssel hier.</translation>
        </message>
        <message>
            <source>The run that was open before</source>
            <translation>Der Lauf, der davor offen war</translation>
        </message>
        <message>
            <source>Written: {0}</source>
            <translation>Geschrieben: {0}</translation>
        </message>
        <message>
            <source>{0} cannot be shown. Open another run, or drop one here.</source>
            <translation>{0} kann nicht gezeigt werden. Öffnen Sie einen anderen Lauf, oder legen Sie einen hier ab.</translation>
        </message>
    </context>
    <context>
        <name>Menus</name>
        <message>
            <source>&amp;Device</source>
            <translation>&amp;Gerät</translation>
        </message>
        <message>
            <source>&amp;Edit</source>
            <translation>&amp;Bearbeiten</translation>
        </message>
        <message>
            <source>&amp;File</source>
            <translation>&amp;Datei</translation>
        </message>
        <message>
            <source>&amp;Help</source>
            <translation>&amp;Hilfe</translation>
        </message>
        <message>
            <source>&amp;Keys</source>
            <translation>&amp;Schlüssel</translation>
        </message>
        <message>
            <source>&amp;Tools</source>
            <translation>&amp;Werkzeuge</translation>
        </message>
        <message>
            <source>&amp;View</source>
            <translation>&amp;Ansicht</translation>
        </message>
        <message>
            <source>Open &amp;recent</source>
            <translation>&amp;Zuletzt geöffnet</translation>
        </message>
        <message>
            <source>Plots</source>
            <translation>Kurven</translation>
        </message>
        <message>
            <source>Queue</source>
            <translation>Warteschlange</translation>
        </message>
        <message>
            <source>Replay</source>
            <translation>Nachrechnung</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>Schritte</translation>
        </message>
        <message>
            <source>Window</source>
            <translation>Fenster</translation>
        </message>
    </context>
    <context>
        <name>MerkleView</name>
        <message>
            <source>A leaf commits to the state root, the loss, the fingerprints and the log.</source>
            <translation>Ein Blatt legt die Zustandswurzel, den Verlust, die Fingerabdrücke und das Rundungsprotokoll fest.</translation>
        </message>
        <message>
            <source>Chunk</source>
            <translation>Block</translation>
        </message>
        <message>
            <source>Chunk {0} of {1}</source>
            <translation>Block {0} von {1}</translation>
        </message>
        <message>
            <source>Chunks hold 16 KiB of a tensor; {0} of {1} differ, this is the first.</source>
            <translation>Ein Block enthält 16 KiB eines Tensors; {0} von {1} weichen ab, dieser ist der erste.</translation>
        </message>
        <message>
            <source>Compared</source>
            <translation>Verglichen</translation>
        </message>
        <message>
            <source>Comparisons from the run root to the disputed step</source>
            <translation>Vergleiche von der Laufwurzel bis zum strittigen Schritt</translation>
        </message>
        <message>
            <source>Down to {0}.</source>
            <translation>Hinab zu: {0}.</translation>
        </message>
        <message>
            <source>Elements</source>
            <translation>Elemente</translation>
        </message>
        <message>
            <source>Elements: trainer | replay</source>
            <translation>Elemente: Trainer | Nachrechnung</translation>
        </message>
        <message>
            <source>Fit</source>
            <translation>Einpassen</translation>
        </message>
        <message>
            <source>Fit the tree into the view</source>
            <translation>Den Baum in die Ansicht einpassen</translation>
        </message>
        <message>
            <source>Fit the tree into the view; Ctrl and the wheel zoom</source>
            <translation>Den Baum in die Ansicht einpassen; Strg und Mausrad vergrößern und verkleinern</translation>
        </message>
        <message>
            <source>No.</source>
            <translation>Nr.</translation>
        </message>
        <message>
            <source>One of {0} tensors that differ in this state; choose another on the right.</source>
            <translation>Einer von {0} Tensoren, die in diesem Zustand abweichen; wählen Sie rechts einen anderen.</translation>
        </message>
        <message>
            <source>Replay's hash</source>
            <translation>Hash der Nachrechnung</translation>
        </message>
        <message>
            <source>Result</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>State after step {0}</source>
            <translation>Zustand nach Schritt {0}</translation>
        </message>
        <message>
            <source>State root</source>
            <translation>Zustandswurzel</translation>
        </message>
        <message>
            <source>Tensor</source>
            <translation>Tensor</translation>
        </message>
        <message>
            <source>Tensor below the leaf</source>
            <translation>Tensor unter dem Blatt</translation>
        </message>
        <message>
            <source>The first elements that differ; the Dispute view shows their neighbours and all digits.</source>
            <translation>Die ersten Elemente, die abweichen; die Ansicht Streitfall zeigt ihre Nachbarn und alle Ziffern.</translation>
        </message>
        <message>
            <source>The leaf of {0} differs, and every leaf before it is equal.</source>
            <translation>Das Blatt ({0}) weicht ab, und jedes Blatt davor ist gleich.</translation>
        </message>
        <message>
            <source>The left half differs, so the first difference lies there: {0}.</source>
            <translation>Die linke Hälfte weicht ab; dort liegt der erste Unterschied: {0}.</translation>
        </message>
        <message>
            <source>The left half is equal, so the first difference lies on the right: {0}.</source>
            <translation>Die linke Hälfte ist gleich, der erste Unterschied liegt also rechts: {0}.</translation>
        </message>
        <message>
            <source>The next state that the trainer stored is that of step {0}.</source>
            <translation>Der nächste Zustand, den der Trainer gespeichert hat, ist der von Schritt {0}.</translation>
        </message>
        <message>
            <source>The only tensor that differs in this state.</source>
            <translation>Der einzige Tensor, der in diesem Zustand abweicht.</translation>
        </message>
        <message>
            <source>The replay found no differing leaf.</source>
            <translation>Die Nachrechnung fand kein abweichendes Blatt.</translation>
        </message>
        <message>
            <source>The run root, which the trainer signed, stands above all leaves.</source>
            <translation>Die Laufwurzel, die der Trainer unterschrieben hat, steht über allen Blättern.</translation>
        </message>
        <message>
            <source>The run roots differ, so at least one leaf does.</source>
            <translation>Die Laufwurzeln sind verschieden; also weicht mindestens ein Blatt ab.</translation>
        </message>
        <message>
            <source>The search from the run root to the step</source>
            <translation>Die Suche von der Laufwurzel zum Schritt</translation>
        </message>
        <message>
            <source>The trainer signed one hash, the run root, over {0} leaves: the initial state and every step. If a step comes out different, at most {1} comparisons find the first such step; they are then shown here.</source>
            <translation>Der Trainer hat einen einzigen Hash unterschrieben, die Laufwurzel, über {0} Blättern: dem Anfangszustand und jedem Schritt. Kommt ein Schritt anders heraus, so finden höchstens {1} Vergleiche den ersten solchen Schritt; sie stehen dann hier.</translation>
        </message>
        <message>
            <source>There is no run to compare.</source>
            <translation>Es gibt keinen Lauf zu vergleichen.</translation>
        </message>
        <message>
            <source>Trainer's hash</source>
            <translation>Hash des Trainers</translation>
        </message>
        <message>
            <source>all leaves match</source>
            <translation>alle Blätter stimmen überein</translation>
        </message>
        <message>
            <source>both    {0}</source>
            <translation>beide   {0}</translation>
        </message>
        <message>
            <source>not compared</source>
            <translation>nicht verglichen</translation>
        </message>
        <message>
            <source>not replayed</source>
            <translation>nicht nachgerechnet</translation>
        </message>
        <message>
            <source>not stored</source>
            <translation>nicht gespeichert</translation>
        </message>
        <message>
            <source>ordered, compared at opening</source>
            <translation>bestellt, beim Öffnen verglichen</translation>
        </message>
        <message>
            <source>replay  {0}</source>
            <translation>Nachr.  {0}</translation>
        </message>
        <message>
            <source>the leaf matches</source>
            <translation>das Blatt stimmt überein</translation>
        </message>
        <message>
            <source>trainer {0}</source>
            <translation>Trainer {0}</translation>
        </message>
        <message>
            <source>{0} comparisons of hashes lead from the run root to step {1}, the first whose leaf differs. The trainer's leaf is part of the signed run root; {2} hashes prove it.</source>
            <translation>{0} Vergleiche von Hashes führen von der Laufwurzel zu Schritt {1}, dem ersten mit abweichendem Blatt. Das Blatt des Trainers gehört zur unterschriebenen Laufwurzel; {2} Hashes beweisen es.</translation>
        </message>
        <message>
            <source>{0} differ</source>
            <translation>{0} verschieden</translation>
        </message>
        <message>
            <source>{0} of {1} leaves match</source>
            <translation>{0} von {1} Blättern stimmen überein</translation>
        </message>
    </context>
    <context>
        <name>OperatorView</name>
        <message>
            <source>Argument</source>
            <translation>Argument</translation>
        </message>
        <message>
            <source>First values</source>
            <translation>Erste Werte</translation>
        </message>
        <message>
            <source>Inputs and output of the operator</source>
            <translation>Eingaben und Ausgabe des Operators</translation>
        </message>
        <message>
            <source>Largest</source>
            <translation>Größter Wert</translation>
        </message>
        <message>
            <source>Least</source>
            <translation>Kleinster Wert</translation>
        </message>
        <message>
            <source>Mean</source>
            <translation>Mittel</translation>
        </message>
        <message>
            <source>Operator {0}: {1}</source>
            <translation>Operator {0}: {1}</translation>
        </message>
        <message>
            <source>Shape</source>
            <translation>Form</translation>
        </message>
        <message>
            <source>Type</source>
            <translation>Typ</translation>
        </message>
        <message>
            <source>output of the replay</source>
            <translation>Ausgabe der Nachrechnung</translation>
        </message>
    </context>
    <context>
        <name>OptionFields</name>
        <message>
            <source>Choose: {0}</source>
            <translation>Auswählen: {0}</translation>
        </message>
        <message>
            <source>Choose…</source>
            <translation>Wählen…</translation>
        </message>
        <message>
            <source>as the command decides</source>
            <translation>wie der Befehl entscheidet</translation>
        </message>
        <message>
            <source>module:function</source>
            <translation>Modul:Funktion</translation>
        </message>
        <message>
            <source>needed</source>
            <translation>erforderlich</translation>
        </message>
    </context>
    <context>
        <name>OrderDesk</name>
        <message>
            <source>Order a &amp;training…</source>
            <translation>&amp;Training bestellen…</translation>
        </message>
        <message>
            <source>Print the card</source>
            <translation>Karte drucken</translation>
        </message>
        <message>
            <source>Save the card</source>
            <translation>Karte speichern</translation>
        </message>
        <message>
            <source>Say what is to be trained, try the first step, and save the order</source>
            <translation>Angeben, was trainiert werden soll, den ersten Schritt ausprobieren und den Auftrag speichern</translation>
        </message>
        <message>
            <source>Texts (*.txt)</source>
            <translation>Texte (*.txt)</translation>
        </message>
        <message>
            <source>The card is saved: {0}</source>
            <translation>Die Karte ist gespeichert: {0}</translation>
        </message>
        <message>
            <source>The order is saved: {0}</source>
            <translation>Der Auftrag ist gespeichert: {0}</translation>
        </message>
    </context>
    <context>
        <name>OrderWizard</name>
        <message>
            <source>&amp;Back</source>
            <translation>&amp;Zurück</translation>
        </message>
        <message>
            <source>&amp;Next</source>
            <translation>&amp;Weiter</translation>
        </message>
        <message>
            <source>&amp;Record it here…</source>
            <translation>Hier auf&amp;zeichnen…</translation>
        </message>
        <message>
            <source>&amp;Try the first step</source>
            <translation>Ersten Schritt &amp;ausprobieren</translation>
        </message>
        <message>
            <source>&amp;Write the order</source>
            <translation>Auftrag &amp;schreiben</translation>
        </message>
        <message>
            <source>A replay is running; the data can be looked at when it is over.</source>
            <translation>Eine Nachrechnung läuft; die Daten lassen sich ansehen, wenn sie zu Ende ist.</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>Schließen</translation>
        </message>
        <message>
            <source>If you are the trainer as well: the order goes on to the recording</source>
            <translation>Wenn Sie auch trainieren: der Auftrag geht weiter zur Aufzeichnung</translation>
        </message>
        <message>
            <source>Needed: {0}.</source>
            <translation>Erforderlich: {0}.</translation>
        </message>
        <message>
            <source>Order a training</source>
            <translation>Training bestellen</translation>
        </message>
        <message>
            <source>Pages</source>
            <translation>Seiten</translation>
        </message>
        <message>
            <source>There is no file or folder of this name.</source>
            <translation>Es gibt keine Datei und keinen Ordner dieses Namens.</translation>
        </message>
        <message>
            <source>Try the first step first; then the order can be saved.</source>
            <translation>Probieren Sie zuerst den ersten Schritt aus; dann lässt sich der Auftrag speichern.</translation>
        </message>
        <message>
            <source>a number</source>
            <translation>eine Zahl</translation>
        </message>
        <message>
            <source>a whole number</source>
            <translation>eine ganze Zahl</translation>
        </message>
        <message>
            <source>{0} takes {1}, {2} or more.</source>
            <translation>{0}: Hier steht {1}, mindestens {2}.</translation>
        </message>
        <message>
            <source>{0} takes {1}, {2} to {3}.</source>
            <translation>{0}: Hier steht {1}, {2} bis {3}.</translation>
        </message>
        <message>
            <source>{0} takes {1}.</source>
            <translation>{0}: Hier steht {1}.</translation>
        </message>
    </context>
    <context>
        <name>Palette</name>
        <message>
            <source>A command, a step, a tensor, a check, a case</source>
            <translation>Ein Befehl, ein Schritt, ein Tensor, eine Prüfung, ein Fall</translation>
        </message>
        <message>
            <source>Find a command, a step, a tensor, a check or a case</source>
            <translation>Einen Befehl, einen Schritt, einen Tensor, eine Prüfung oder einen Fall finden</translation>
        </message>
        <message>
            <source>Keys</source>
            <translation>Tasten</translation>
        </message>
        <message>
            <source>Kind</source>
            <translation>Art</translation>
        </message>
        <message>
            <source>Nothing has this name.</source>
            <translation>Nichts heißt so.</translation>
        </message>
        <message>
            <source>What</source>
            <translation>Was</translation>
        </message>
        <message>
            <source>What fits</source>
            <translation>Was passt</translation>
        </message>
    </context>
    <context>
        <name>PassphraseLine</name>
        <message>
            <source>Passphrase</source>
            <translation>Passwort</translation>
        </message>
        <message>
            <source>empty if the key has none</source>
            <translation>leer, wenn der Schlüssel keines hat</translation>
        </message>
        <message>
            <source>recommended; protects the key file</source>
            <translation>empfohlen; schützt die Schlüsseldatei</translation>
        </message>
        <message>
            <source>unlocked: nothing to type</source>
            <translation>entsperrt: nichts einzugeben</translation>
        </message>
    </context>
    <context>
        <name>PlaceDesk</name>
        <message>
            <source>&amp;Connect</source>
            <translation>&amp;Verbinden</translation>
        </message>
        <message>
            <source>&amp;Open</source>
            <translation>Ö&amp;ffnen</translation>
        </message>
        <message>
            <source>A machine that ssh reaches without a password, and on which Counterfoil of this version is installed. A window of its own opens: its files are those of that machine, your keys stay here.</source>
            <translation>Ein Rechner, den ssh ohne Passwort erreicht und auf dem Counterfoil in dieser Version installiert ist. Ein eigenes Fenster geht auf: Seine Dateien sind die jenes Rechners, Ihre Schlüssel bleiben hier.</translation>
        </message>
        <message>
            <source>Connect to mac&amp;hine…</source>
            <translation>Mit &amp;Rechner verbinden…</translation>
        </message>
        <message>
            <source>Connect to machine</source>
            <translation>Mit Rechner verbinden</translation>
        </message>
        <message>
            <source>Copy a file from a web server or an object store, and open it</source>
            <translation>Eine Datei von einem Webserver oder einem Objektspeicher kopieren und öffnen</translation>
        </message>
        <message>
            <source>Open &amp;address…</source>
            <translation>A&amp;dresse öffnen…</translation>
        </message>
        <message>
            <source>Open a window whose engine works on another machine, which has the files</source>
            <translation>Ein Fenster öffnen, das auf einem anderen Rechner arbeiten lässt, der die Dateien hat</translation>
        </message>
        <message>
            <source>Open address</source>
            <translation>Adresse öffnen</translation>
        </message>
        <message>
            <source>The address of a file: https://, http:// or s3://. It is copied into {0}, and then opened as any file is.</source>
            <translation>Die Adresse einer Datei: https://, http:// oder s3://. Sie wird nach {0} kopiert und dann wie jede Datei geöffnet.</translation>
        </message>
    </context>
    <context>
        <name>PlaceDialog</name>
        <message>
            <source>Progress</source>
            <translation>Fortschritt</translation>
        </message>
        <message>
            <source>What came of it</source>
            <translation>Was daraus wurde</translation>
        </message>
        <message>
            <source>{0} %: {1} of {2}</source>
            <translation>{0} %: {1} von {2}</translation>
        </message>
        <message>
            <source>{0}, {1} left</source>
            <translation>{0}, noch {1}</translation>
        </message>
    </context>
    <context>
        <name>PlanDialog</name>
        <message>
            <source> It takes about {0} on {1}.</source>
            <translation> Das dauert auf {1} etwa {0}.</translation>
        </message>
        <message>
            <source>&amp;Measure the time</source>
            <translation>Zeit &amp;messen</translation>
        </message>
        <message>
            <source>100 % (whole run)</source>
            <translation>100 % (ganzer Lauf)</translation>
        </message>
        <message>
            <source>A &amp;random sample</source>
            <translation>Eine &amp;zufällige Stichprobe</translation>
        </message>
        <message>
            <source>A step takes {0}.</source>
            <translation>Ein Schritt braucht {0}.</translation>
        </message>
        <message>
            <source>All {0} steps are replayed: a clean replay is a proof.</source>
            <translation>Alle {0} Schritte werden nachgerechnet: Eine Nachrechnung ohne Abweichung ist ein Beweis.</translation>
        </message>
        <message>
            <source>Allow a program beyond the &amp;limits</source>
            <translation>Programm über den &amp;Grenzen zulassen</translation>
        </message>
        <message>
            <source>Chance that
a bad run passes</source>
            <translation>Chance, dass ein
schlechter Lauf durchkommt</translation>
        </message>
        <message>
            <source>Chance to find
a bad run</source>
            <translation>Chance, einen schlechten
Lauf zu finden</translation>
        </message>
        <message>
            <source>Chance to find a bad run</source>
            <translation>Chance, einen schlechten Lauf zu finden</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>Gerät</translation>
        </message>
        <message>
            <source>Device of the replay</source>
            <translation>Gerät der Nachrechnung</translation>
        </message>
        <message>
            <source>Limits of operators, memory and computing keep a stranger's program from taking this machine.</source>
            <translation>Grenzen für Operatoren, Speicher und Rechnen halten das Programm eines Fremden davon ab, diese Maschine in Beschlag zu nehmen.</translation>
        </message>
        <message>
            <source>Measure on one device or several to compare the plans; a few steps are replayed for it.</source>
            <translation>Messen Sie auf einem Gerät oder mehreren, um die Pläne zu vergleichen; dafür werden einige Schritte nachgerechnet.</translation>
        </message>
        <message>
            <source>Numbers of the segments</source>
            <translation>Nummern der Segmente</translation>
        </message>
        <message>
            <source>Plan the replay</source>
            <translation>Nachrechnung planen</translation>
        </message>
        <message>
            <source>Progress of the measurement</source>
            <translation>Fortschritt der Messung</translation>
        </message>
        <message>
            <source>Segments</source>
            <translation>Segmente</translation>
        </message>
        <message>
            <source>Share of bad segments</source>
            <translation>Anteil schlechter Segmente</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>Schritte</translation>
        </message>
        <message>
            <source>Stop measuring</source>
            <translation>Messung abbrechen</translation>
        </message>
        <message>
            <source>The &amp;whole run</source>
            <translation>Der &amp;ganze Lauf</translation>
        </message>
        <message>
            <source>The run has the segments 1 to {0}.</source>
            <translation>Der Lauf hat die Segmente 1 bis {0}.</translation>
        </message>
        <message>
            <source>The run has {0} steps in {1} segments, each from one stored state to the next. Each segment can be replayed by itself.</source>
            <translation>Der Lauf hat {0} Schritte in {1} Segmenten, die jeweils von einem gespeicherten Zustand zum nächsten reichen. Jedes Segment lässt sich für sich nachrechnen.</translation>
        </message>
        <message>
            <source>These &amp;segments</source>
            <translation>Diese &amp;Segmente</translation>
        </message>
        <message>
            <source>Time on {0}</source>
            <translation>Zeit auf {0}</translation>
        </message>
        <message>
            <source>Use this plan</source>
            <translation>Diesen Plan benutzen</translation>
        </message>
        <message>
            <source>What each plan costs and proves</source>
            <translation>Was jeder Plan kostet und beweist</translation>
        </message>
        <message>
            <source>Which segments are replayed is drawn at random when the replay starts; the trainer cannot know them. Measure to see how many they are and how long they take.</source>
            <translation>Welche Segmente nachgerechnet werden, wird zu Beginn der Nachrechnung zufällig gezogen; der Trainer kann sie nicht kennen. Messen Sie, um zu sehen, wie viele es sind und wie lange sie dauern.</translation>
        </message>
        <message>
            <source>for instance 1,4,7-9</source>
            <translation>zum Beispiel 1,4,7-9</translation>
        </message>
        <message>
            <source>of bad segments, with a chance of</source>
            <translation>schlechten Segmenten; Chance:</translation>
        </message>
        <message>
            <source>step {0} of {1}</source>
            <translation>Schritt {0} von {1}</translation>
        </message>
        <message>
            <source>that finds a run with</source>
            <translation>sie findet einen Lauf mit</translation>
        </message>
        <message>
            <source>{0} of {1} segments are drawn at random when the replay starts. A run in which {2} or more of them are bad would pass with a probability of {3}.</source>
            <translation>{0} von {1} Segmenten werden zu Beginn der Nachrechnung zufällig gezogen. Ein Lauf, in dem {2} oder mehr von allen schlecht sind, käme mit der Wahrscheinlichkeit {3} durch.</translation>
        </message>
        <message>
            <source>{0} of {1} segments are replayed. A clean replay says nothing about the others.</source>
            <translation>{0} von {1} Segmenten werden nachgerechnet. Eine Nachrechnung ohne Abweichung sagt nichts über die anderen.</translation>
        </message>
    </context>
    <context>
        <name>PreferencesDialog</name>
        <message>
            <source> minutes</source>
            <translation> Minuten</translation>
        </message>
        <message>
            <source>&amp;Device</source>
            <translation>&amp;Gerät</translation>
        </message>
        <message>
            <source>&amp;Export…</source>
            <translation>&amp;Exportieren…</translation>
        </message>
        <message>
            <source>&amp;Folder for bundles</source>
            <translation>&amp;Ordner für Bündel</translation>
        </message>
        <message>
            <source>&amp;Import…</source>
            <translation>&amp;Importieren…</translation>
        </message>
        <message>
            <source>&amp;Keep the computer awake during a replay</source>
            <translation>Den Rechner beim Nachrechnen &amp;wach halten</translation>
        </message>
        <message>
            <source>&amp;Language</source>
            <translation>&amp;Sprache</translation>
        </message>
        <message>
            <source>&amp;Notify me at the end when the window is not in front</source>
            <translation>Am Ende be&amp;nachrichtigen, wenn das Fenster nicht vorn ist</translation>
        </message>
        <message>
            <source>&amp;Private key</source>
            <translation>Privater Sch&amp;lüssel</translation>
        </message>
        <message>
            <source>&amp;Theme</source>
            <translation>&amp;Farben</translation>
        </message>
        <message>
            <source>&amp;Workers</source>
            <translation>&amp;Helfer</translation>
        </message>
        <message>
            <source>Appearance</source>
            <translation>Aussehen</translation>
        </message>
        <message>
            <source>Choose the folder for bundles</source>
            <translation>Ordner für Bündel wählen</translation>
        </message>
        <message>
            <source>Choose the private key file</source>
            <translation>Datei des privaten Schlüssels wählen</translation>
        </message>
        <message>
            <source>Choose…</source>
            <translation>Wählen…</translation>
        </message>
        <message>
            <source>Dark</source>
            <translation>Dunkel</translation>
        </message>
        <message>
            <source>Export settings</source>
            <translation>Einstellungen exportieren</translation>
        </message>
        <message>
            <source>Files</source>
            <translation>Dateien</translation>
        </message>
        <message>
            <source>Folder for bundles</source>
            <translation>Ordner für Bündel</translation>
        </message>
        <message>
            <source>How long after its last use a key needs no passphrase. It is kept in memory alone, and forgotten when the window is closed.</source>
            <translation>Wie lange nach dem letzten Gebrauch ein Schlüssel kein Passwort braucht. Es bleibt nur im Arbeitsspeicher und wird vergessen, wenn das Fenster geschlossen wird.</translation>
        </message>
        <message>
            <source>Import settings</source>
            <translation>Einstellungen importieren</translation>
        </message>
        <message>
            <source>Language and text size change at the next start.</source>
            <translation>Sprache und Textgröße ändern sich beim nächsten Start.</translation>
        </message>
        <message>
            <source>Light</source>
            <translation>Hell</translation>
        </message>
        <message>
            <source>Like the system</source>
            <translation>Wie das System</translation>
        </message>
        <message>
            <source>Preferences</source>
            <translation>Einstellungen</translation>
        </message>
        <message>
            <source>Private key</source>
            <translation>Privater Schlüssel</translation>
        </message>
        <message>
            <source>Processes that replay segments side by side, each with memory for a step; they share the cores. The verdict is the same.</source>
            <translation>Prozesse, die Segmente nebeneinander nachrechnen, jeder mit Speicher für einen Schritt; sie teilen sich die Kerne. Das Urteil ist dasselbe.</translation>
        </message>
        <message>
            <source>Replay</source>
            <translation>Nachrechnung</translation>
        </message>
        <message>
            <source>Show the settings of a file here; they are stored with OK</source>
            <translation>Die Einstellungen einer Datei hier zeigen; mit OK werden sie gespeichert</translation>
        </message>
        <message>
            <source>Stays &amp;unlocked</source>
            <translation>&amp;Bleibt entsperrt</translation>
        </message>
        <message>
            <source>Text &amp;size</source>
            <translation>Te&amp;xtgröße</translation>
        </message>
        <message>
            <source>The stored settings were written to {0}.</source>
            <translation>Die gespeicherten Einstellungen wurden nach {0} geschrieben.</translation>
        </message>
        <message>
            <source>There is no such folder.</source>
            <translation>Diesen Ordner gibt es nicht.</translation>
        </message>
        <message>
            <source>There is no such key file.</source>
            <translation>Diese Schlüsseldatei gibt es nicht.</translation>
        </message>
        <message>
            <source>These are the settings of {0}. OK stores them.</source>
            <translation>Das sind die Einstellungen aus {0}. OK speichert sie.</translation>
        </message>
        <message>
            <source>Threads on the &amp;CPU</source>
            <translation>Threads auf der &amp;CPU</translation>
        </message>
        <message>
            <source>Write the stored settings to a file; folders, key and layout stay out</source>
            <translation>Die gespeicherten Einstellungen in eine Datei schreiben; ohne Ordner, Schlüssel und Anordnung</translation>
        </message>
        <message>
            <source>as many as there are cores</source>
            <translation>so viele, wie es Kerne gibt</translation>
        </message>
        <message>
            <source>asked for at the first verdict</source>
            <translation>wird beim ersten Urteil erfragt</translation>
        </message>
        <message>
            <source>locked after each use</source>
            <translation>nach jedem Gebrauch gesperrt</translation>
        </message>
        <message>
            <source>none</source>
            <translation>keine</translation>
        </message>
        <message>
            <source>{0} %</source>
            <translation>{0} %</translation>
        </message>
    </context>
    <context>
        <name>PreviewView</name>
        <message>
            <source>Beginning of the text</source>
            <translation>Anfang des Textes</translation>
        </message>
        <message>
            <source>Files of this format are not looked into here; they are read when the first step is tried.</source>
            <translation>In Dateien dieses Formats wird hier nicht hineingesehen; sie werden gelesen, wenn der erste Schritt ausprobiert wird.</translation>
        </message>
        <message>
            <source>First rows of the data</source>
            <translation>Erste Zeilen der Daten</translation>
        </message>
        <message>
            <source>The first {0} rows:</source>
            <translation>Die ersten {0} Zeilen:</translation>
        </message>
        <message>
            <source>{0} colour images of {1} × {2} pixels; the first ones with their labels:</source>
            <translation>{0} Farbbilder mit {1} × {2} Pixeln; die ersten mit ihren Klassen:</translation>
        </message>
        <message>
            <source>{0} grey images of {1} × {2} pixels; the first ones with their labels:</source>
            <translation>{0} Graubilder mit {1} × {2} Pixeln; die ersten mit ihren Klassen:</translation>
        </message>
        <message>
            <source>{0} of text, which begins:</source>
            <translation>{0} Text, der so beginnt:</translation>
        </message>
        <message>
            <source>{0} rows; the first {1}:</source>
            <translation>{0} Zeilen; die ersten {1}:</translation>
        </message>
    </context>
    <context>
        <name>ProviderMatrix</name>
        <message>
            <source>Arrow keys choose a step and a provider, N and P the next and the last step that differs</source>
            <translation>Pfeiltasten wählen Schritt und Anbieter, N und P den nächsten und den vorigen Schritt, der abweicht</translation>
        </message>
        <message>
            <source>Results of all providers, step by step</source>
            <translation>Ergebnisse aller Anbieter, Schritt für Schritt</translation>
        </message>
        <message>
            <source>Step {0}</source>
            <translation>Schritt {0}</translation>
        </message>
        <message>
            <source>{0} has no step {1}.</source>
            <translation>{0} hat keinen Schritt {1}.</translation>
        </message>
        <message>
            <source>{0}, step {1}: another result, {2}.</source>
            <translation>{0}, Schritt {1}: ein anderes Ergebnis, {2}.</translation>
        </message>
        <message>
            <source>{0}, step {1}: result A, that of the largest group.</source>
            <translation>{0}, Schritt {1}: Ergebnis A, das der größten Gruppe.</translation>
        </message>
        <message>
            <source>{0}, step {1}: {2}.</source>
            <translation>{0}, Schritt {1}: {2}.</translation>
        </message>
    </context>
    <context>
        <name>ProvidersDialog</name>
        <message>
            <source>&amp;Compare</source>
            <translation>&amp;Vergleichen</translation>
        </message>
        <message>
            <source>&amp;Compare again</source>
            <translation>&amp;Noch einmal vergleichen</translation>
        </message>
        <message>
            <source>&amp;Open this run</source>
            <translation>Diesen Lauf ö&amp;ffnen</translation>
        </message>
        <message>
            <source>&amp;Remove</source>
            <translation>&amp;Entfernen</translation>
        </message>
        <message>
            <source>A&amp;dd runs…</source>
            <translation>Läufe &amp;hinzufügen…</translation>
        </message>
        <message>
            <source>Add the runs of one order that several providers made: one that computed honestly exposes the others.</source>
            <translation>Fügen Sie die Läufe eines Auftrags hinzu, die verschiedene Anbieter gemacht haben: einer, der ehrlich gerechnet hat, überführt die anderen.</translation>
        </message>
        <message>
            <source>Being compared</source>
            <translation>Wird verglichen</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>Sch&amp;ließen</translation>
        </message>
        <message>
            <source>Choose the d&amp;ata…</source>
            <translation>&amp;Daten wählen…</translation>
        </message>
        <message>
            <source>Choose the o&amp;rder…</source>
            <translation>Auft&amp;rag wählen…</translation>
        </message>
        <message>
            <source>Close this page, and audit the chosen run by itself</source>
            <translation>Diese Seite schließen und den gewählten Lauf für sich prüfen</translation>
        </message>
        <message>
            <source>Compare providers</source>
            <translation>Anbieter vergleichen</translation>
        </message>
        <message>
            <source>First operator</source>
            <translation>Erster Operator</translation>
        </message>
        <message>
            <source>Found</source>
            <translation>Gefunden</translation>
        </message>
        <message>
            <source>No part is taken by: {0}.</source>
            <translation>Nicht teilgenommen hat: {0}.</translation>
        </message>
        <message>
            <source>No step differs.</source>
            <translation>Kein Schritt weicht ab.</translation>
        </message>
        <message>
            <source>Nobody is accused yet: replay the step to see who is right.</source>
            <translation>Noch ist niemand beschuldigt: Rechnen Sie den Schritt nach, um zu sehen, wer recht hat.</translation>
        </message>
        <message>
            <source>Not compared</source>
            <translation>Nicht verglichen</translation>
        </message>
        <message>
            <source>Not compared yet</source>
            <translation>Noch nicht verglichen</translation>
        </message>
        <message>
            <source>Progress of the comparison</source>
            <translation>Fortschritt des Vergleichs</translation>
        </message>
        <message>
            <source>Providers</source>
            <translation>Anbieter</translation>
        </message>
        <message>
            <source>Re&amp;play step {0}</source>
            <translation>Schritt {0} nach&amp;rechnen</translation>
        </message>
        <message>
            <source>Remark</source>
            <translation>Bemerkung</translation>
        </message>
        <message>
            <source>Replay</source>
            <translation>Nachrechnung</translation>
        </message>
        <message>
            <source>Results, step by step</source>
            <translation>Ergebnisse, Schritt für Schritt</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>Lauf</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>Schritt</translation>
        </message>
        <message>
            <source>The first such step is step {0} of {1}.</source>
            <translation>Der erste solche Schritt ist Schritt {0} von {1}.</translation>
        </message>
        <message>
            <source>The runs are compared step by step. Where they part, the step can be replayed here: the replay decides, not the majority.</source>
            <translation>Die Läufe werden Schritt für Schritt verglichen. Wo sie auseinandergehen, lässt sich der Schritt hier nachrechnen: Die Nachrechnung entscheidet, nicht die Mehrheit.</translation>
        </message>
        <message>
            <source>The runs are read, and compared with what was signed.</source>
            <translation>Die Läufe werden gelesen und mit dem verglichen, was unterschrieben wurde.</translation>
        </message>
        <message>
            <source>The step in which they part is replayed, once with each run's own log.</source>
            <translation>Der Schritt, in dem sie auseinandergehen, wird nachgerechnet, je einmal mit dem Protokoll jedes Laufs.</translation>
        </message>
        <message>
            <source>They are compared with the order {0}.</source>
            <translation>Sie werden mit dem Auftrag {0} verglichen.</translation>
        </message>
        <message>
            <source>They are not compared with the client's own order: what the first run says of its order counts.</source>
            <translation>Sie werden nicht mit dem Auftrag des Auftraggebers selbst verglichen: Es gilt, was der erste Lauf von seinem Auftrag sagt.</translation>
        </message>
        <message>
            <source>They part at step {0}</source>
            <translation>Sie gehen in Schritt {0} auseinander</translation>
        </message>
        <message>
            <source>Trainer's key</source>
            <translation>Schlüssel des Trainers</translation>
        </message>
        <message>
            <source>Up to step {0} the results of {1} and of {2} are the same.</source>
            <translation>Bis Schritt {0} sind die Ergebnisse von {1} und von {2} dieselben.</translation>
        </message>
        <message>
            <source>What differs</source>
            <translation>Was abweicht</translation>
        </message>
        <message>
            <source>What the replay says of each run</source>
            <translation>Was die Nachrechnung über jeden Lauf sagt</translation>
        </message>
        <message>
            <source>What the replay says of each run, by its own rounding log</source>
            <translation>Was die Nachrechnung über jeden Lauf sagt, mit dessen eigenem Rundungsprotokoll</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>Was gefunden wurde</translation>
        </message>
        <message>
            <source>the same key as another run</source>
            <translation>derselbe Schlüssel wie bei einem anderen Lauf</translation>
        </message>
        <message>
            <source>{0} left</source>
            <translation>noch {0}</translation>
        </message>
    </context>
    <context>
        <name>QueueView</name>
        <message>
            <source>Add several runs: they are replayed one after the other.</source>
            <translation>Fügen Sie mehrere Läufe hinzu: Sie werden nacheinander nachgerechnet.</translation>
        </message>
        <message>
            <source>Bundle</source>
            <translation>Bündel</translation>
        </message>
        <message>
            <source>Outcome</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>Queue of bundles</source>
            <translation>Warteschlange der Bündel</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>Entfernen</translation>
        </message>
        <message>
            <source>Show</source>
            <translation>Anzeigen</translation>
        </message>
        <message>
            <source>The queue is at work; stop it, or wait until it is done.</source>
            <translation>Die Warteschlange arbeitet; brechen Sie sie ab, oder warten Sie, bis sie fertig ist.</translation>
        </message>
        <message>
            <source>being replayed</source>
            <translation>wird nachgerechnet</translation>
        </message>
        <message>
            <source>not replayed: {0}</source>
            <translation>nicht nachgerechnet: {0}</translation>
        </message>
        <message>
            <source>waiting</source>
            <translation>wartet</translation>
        </message>
        <message>
            <source>{0} of {1} done. Replayed of each: {2}.</source>
            <translation>{0} von {1} fertig. Nachgerechnet wird von jedem: {2}.</translation>
        </message>
    </context>
    <context>
        <name>RecordForm</name>
        <message>
            <source>&amp;Device</source>
            <translation>&amp;Gerät</translation>
        </message>
        <message>
            <source>&amp;Make a new key of this name</source>
            <translation>Neuen Schlüssel dieses Na&amp;mens anlegen</translation>
        </message>
        <message>
            <source>&amp;Passphrase</source>
            <translation>&amp;Passwort</translation>
        </message>
        <message>
            <source>&amp;Replay it beside the recording, on the same device</source>
            <translation>Neben der Aufzeichnung auf demselben Gerät &amp;nachrechnen</translation>
        </message>
        <message>
            <source>&amp;Start</source>
            <translation>&amp;Starten</translation>
        </message>
        <message>
            <source>Counterfoil files (*.cfoil)</source>
            <translation>Counterfoil-Dateien (*.cfoil)</translation>
        </message>
        <message>
            <source>Da&amp;ta file</source>
            <translation>Da&amp;tendatei</translation>
        </message>
        <message>
            <source>Data (*)</source>
            <translation>Daten (*)</translation>
        </message>
        <message>
            <source>Each of them is a file of its own.</source>
            <translation>Jedes davon ist eine eigene Datei.</translation>
        </message>
        <message>
            <source>Every step is kept as soon as it is finished: whatever stops the recording, it goes on from there. The run appears when the last step is done, signed with your key.</source>
            <translation>Jeder Schritt wird behalten, sobald er fertig ist: Was die Aufzeichnung auch anhält, von dort geht sie weiter. Der Lauf erscheint nach dem letzten Schritt, unterschrieben mit Ihrem Schlüssel.</translation>
        </message>
        <message>
            <source>It says who trained: whoever is to believe that needs its public key from you</source>
            <translation>Er sagt, wer trainiert hat: Wer das glauben soll, braucht den öffentlichen Schlüssel von Ihnen</translation>
        </message>
        <message>
            <source>Passphrase a&amp;gain</source>
            <translation>Passwort &amp;noch einmal</translation>
        </message>
        <message>
            <source>Passphrase again</source>
            <translation>Passwort noch einmal</translation>
        </message>
        <message>
            <source>Private keys (*.pem)</source>
            <translation>Private Schlüssel (*.pem)</translation>
        </message>
        <message>
            <source>Record an order</source>
            <translation>Einen Auftrag aufzeichnen</translation>
        </message>
        <message>
            <source>Say which order is recorded, where the run goes, and with which key it is signed.</source>
            <translation>Geben Sie an, welcher Auftrag aufgezeichnet wird, wohin der Lauf kommt und mit welchem Schlüssel er unterschrieben wird.</translation>
        </message>
        <message>
            <source>The client's &amp;order</source>
            <translation>Der &amp;Auftrag des Auftraggebers</translation>
        </message>
        <message>
            <source>The r&amp;un, when it is finished</source>
            <translation>Der fertige &amp;Lauf</translation>
        </message>
        <message>
            <source>The two passphrases differ.</source>
            <translation>Die beiden Passwörter sind verschieden.</translation>
        </message>
        <message>
            <source>There is a file of this name already; a key is never overwritten.</source>
            <translation>Eine Datei dieses Namens gibt es schon; ein Schlüssel wird nie überschrieben.</translation>
        </message>
        <message>
            <source>There is no such key file.</source>
            <translation>Diese Schlüsseldatei gibt es nicht.</translation>
        </message>
        <message>
            <source>Tree &amp;heads, to be published</source>
            <translation>&amp;Baumköpfe, zum Veröffentlichen</translation>
        </message>
        <message>
            <source>Tree heads (*.jsonl)</source>
            <translation>Baumköpfe (*.jsonl)</translation>
        </message>
        <message>
            <source>Until then it lies in {0}. A recording that lies there already is gone on with.</source>
            <translation>Bis dahin liegt sie in {0}. Eine Aufzeichnung, die dort schon liegt, wird fortgesetzt.</translation>
        </message>
        <message>
            <source>Your private &amp;key, as the trainer</source>
            <translation>Ihr privater &amp;Schlüssel als Trainer</translation>
        </message>
        <message>
            <source>empty: none are published</source>
            <translation>leer: Es werden keine veröffentlicht</translation>
        </message>
        <message>
            <source>only for an order that names one</source>
            <translation>nur für einen Auftrag, der eine nennt</translation>
        </message>
    </context>
    <context>
        <name>RecordingDesk</name>
        <message>
            <source>Record a run of an order, or follow a recording and replay it while it is made</source>
            <translation>Einen Lauf eines Auftrags aufzeichnen, oder eine Aufzeichnung verfolgen und nachrechnen, während sie entsteht</translation>
        </message>
        <message>
            <source>Record or &amp;follow…</source>
            <translation>&amp;Aufzeichnen oder verfolgen…</translation>
        </message>
        <message>
            <source>The folder that is handed over</source>
            <translation>Der Ordner, der übergeben wird</translation>
        </message>
    </context>
    <context>
        <name>RecordingPage</name>
        <message>
            <source>&amp;Close</source>
            <translation>&amp;Schließen</translation>
        </message>
        <message>
            <source>&amp;Follow a recording…</source>
            <translation>Aufzeichnung &amp;verfolgen…</translation>
        </message>
        <message>
            <source>&amp;Hand over…</source>
            <translation>Über&amp;geben…</translation>
        </message>
        <message>
            <source>&amp;Open the run</source>
            <translation>&amp;Lauf öffnen</translation>
        </message>
        <message>
            <source>&amp;Pause</source>
            <translation>An&amp;halten</translation>
        </message>
        <message>
            <source>&amp;Record an order…</source>
            <translation>Auftrag &amp;aufzeichnen…</translation>
        </message>
        <message>
            <source>&amp;Stop</source>
            <translation>&amp;Abbrechen</translation>
        </message>
        <message>
            <source>A step differs</source>
            <translation>Ein Schritt weicht ab</translation>
        </message>
        <message>
            <source>Behind</source>
            <translation>Rückstand</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>Gerät</translation>
        </message>
        <message>
            <source>Every step is kept as soon as it is finished.</source>
            <translation>Jeder Schritt wird behalten, sobald er fertig ist.</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>Exportieren</translation>
        </message>
        <message>
            <source>Finished</source>
            <translation>Beendet</translation>
        </message>
        <message>
            <source>Following</source>
            <translation>Wird verfolgt</translation>
        </message>
        <message>
            <source>It is being stopped.</source>
            <translation>Sie wird angehalten.</translation>
        </message>
        <message>
            <source>Judged</source>
            <translation>Beurteilt</translation>
        </message>
        <message>
            <source>Not followed</source>
            <translation>Nicht verfolgt</translation>
        </message>
        <message>
            <source>Not recorded</source>
            <translation>Nicht aufgezeichnet</translation>
        </message>
        <message>
            <source>Nothing goes on</source>
            <translation>Nichts ist im Gang</translation>
        </message>
        <message>
            <source>Now</source>
            <translation>Jetzt</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>Auftrag</translation>
        </message>
        <message>
            <source>Paused</source>
            <translation>Angehalten</translation>
        </message>
        <message>
            <source>Record an order as its trainer, or follow a recording as its client or auditor: each step is replayed as soon as it lies there, and the first lie ends it.</source>
            <translation>Zeichnen Sie als Trainer einen Auftrag auf, oder verfolgen Sie als Auftraggeber oder Prüfer eine Aufzeichnung: Jeder Schritt wird nachgerechnet, sobald er daliegt, und die erste Lüge beendet es.</translation>
        </message>
        <message>
            <source>Record and follow</source>
            <translation>Aufzeichnen und verfolgen</translation>
        </message>
        <message>
            <source>Recorded</source>
            <translation>Aufgezeichnet</translation>
        </message>
        <message>
            <source>Recorded steps</source>
            <translation>Aufgezeichnete Schritte</translation>
        </message>
        <message>
            <source>Recording</source>
            <translation>Wird aufgezeichnet</translation>
        </message>
        <message>
            <source>Replayed</source>
            <translation>Nachgerechnet</translation>
        </message>
        <message>
            <source>Replayed steps</source>
            <translation>Nachgerechnete Schritte</translation>
        </message>
        <message>
            <source>Res&amp;ume</source>
            <translation>&amp;Fortsetzen</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>Lauf</translation>
        </message>
        <message>
            <source>S&amp;top</source>
            <translation>A&amp;bbrechen</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>Tempo</translation>
        </message>
        <message>
            <source>Step {0} came out otherwise. It is looked at once more before anybody is accused.</source>
            <translation>Schritt {0} kam anders heraus. Er wird noch einmal angesehen, bevor jemand beschuldigt wird.</translation>
        </message>
        <message>
            <source>Steps {0} to {1} are replayed.</source>
            <translation>Die Schritte {0} bis {1} werden nachgerechnet.</translation>
        </message>
        <message>
            <source>Stop following</source>
            <translation>Verfolgen anhalten</translation>
        </message>
        <message>
            <source>Stop the recording</source>
            <translation>Die Aufzeichnung anhalten</translation>
        </message>
        <message>
            <source>Stopped</source>
            <translation>Angehalten</translation>
        </message>
        <message>
            <source>Stopping…</source>
            <translation>Wird angehalten…</translation>
        </message>
        <message>
            <source>The order is read, and this machine is tested.</source>
            <translation>Der Auftrag wird gelesen und dieser Rechner getestet.</translation>
        </message>
        <message>
            <source>The order is read.</source>
            <translation>Der Auftrag wird gelesen.</translation>
        </message>
        <message>
            <source>The recording</source>
            <translation>Die Aufzeichnung</translation>
        </message>
        <message>
            <source>The recording waits. The steps that are finished are kept.</source>
            <translation>Die Aufzeichnung wartet. Die fertigen Schritte bleiben.</translation>
        </message>
        <message>
            <source>The replay beside it</source>
            <translation>Die Nachrechnung daneben</translation>
        </message>
        <message>
            <source>The run is made and signed: {0}. Hand it over with the public key.</source>
            <translation>Der Lauf ist gemacht und unterschrieben: {0}. Übergeben Sie ihn mit dem öffentlichen Schlüssel.</translation>
        </message>
        <message>
            <source>The run is made, and is audited.</source>
            <translation>Der Lauf ist gemacht und wird geprüft.</translation>
        </message>
        <message>
            <source>The steps that are finished are kept, and the recording goes on from them.</source>
            <translation>Die fertigen Schritte bleiben, und die Aufzeichnung geht von ihnen aus weiter.</translation>
        </message>
        <message>
            <source>Time left</source>
            <translation>Restzeit</translation>
        </message>
        <message>
            <source>Trainer's key</source>
            <translation>Schlüssel des Trainers</translation>
        </message>
        <message>
            <source>Tree heads</source>
            <translation>Baumköpfe</translation>
        </message>
        <message>
            <source>Watching</source>
            <translation>Wird beobachtet</translation>
        </message>
        <message>
            <source>What goes on here goes on when this window is closed.</source>
            <translation>Was hier im Gang ist, geht weiter, wenn dieses Fenster geschlossen wird.</translation>
        </message>
        <message>
            <source>What was replayed is not kept. Follow it again, or audit the run when it is made.</source>
            <translation>Was nachgerechnet wurde, bleibt nicht. Verfolgen Sie sie erneut, oder prüfen Sie den Lauf, wenn er gemacht ist.</translation>
        </message>
        <message>
            <source>Written</source>
            <translation>Geschrieben</translation>
        </message>
        <message>
            <source>about {0}</source>
            <translation>etwa {0}</translation>
        </message>
        <message>
            <source>all {0} steps match</source>
            <translation>alle {0} Schritte stimmen überein</translation>
        </message>
        <message>
            <source>none in the folder</source>
            <translation>keine im Ordner</translation>
        </message>
        <message>
            <source>not at all</source>
            <translation>keiner</translation>
        </message>
        <message>
            <source>step {0} came out otherwise</source>
            <translation>Schritt {0} kam anders heraus</translation>
        </message>
        <message>
            <source>{0} of {1} steps</source>
            <translation>{0} von {1} Schritten</translation>
        </message>
        <message>
            <source>{0} published</source>
            <translation>{0} veröffentlicht</translation>
        </message>
        <message>
            <source>{0} steps</source>
            <translation>{0} Schritte</translation>
        </message>
        <message>
            <source>{0} {1} %</source>
            <translation>{0} {1} %</translation>
        </message>
        <message>
            <source>{0}, about {1}</source>
            <translation>{0}, etwa {1}</translation>
        </message>
        <message>
            <source>{0}, {1} checked, up to step {2}</source>
            <translation>{0}, {1} geprüft, bis Schritt {2}</translation>
        </message>
    </context>
    <context>
        <name>ResultsDialog</name>
        <message>
            <source>&amp;Close</source>
            <translation>&amp;Schließen</translation>
        </message>
        <message>
            <source>Ended</source>
            <translation>Beendet</translation>
        </message>
        <message>
            <source>Judged</source>
            <translation>Beurteilt</translation>
        </message>
        <message>
            <source>Nothing has been replayed yet.</source>
            <translation>Es wurde noch nichts nachgerechnet.</translation>
        </message>
        <message>
            <source>Outcome</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>Re&amp;move…</source>
            <translation>Ent&amp;fernen…</translation>
        </message>
        <message>
            <source>Reading the results…</source>
            <translation>Die Ergebnisse werden gelesen…</translation>
        </message>
        <message>
            <source>Replays: {0}. Not signed: {1}. They are kept until you remove them.</source>
            <translation>Nachrechnungen: {0}. Nicht unterschrieben: {1}. Sie bleiben, bis Sie sie entfernen.</translation>
        </message>
        <message>
            <source>Results</source>
            <translation>Ergebnisse</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>Lauf</translation>
        </message>
        <message>
            <source>Sh&amp;ow</source>
            <translation>An&amp;zeigen</translation>
        </message>
        <message>
            <source>Signed verdict</source>
            <translation>Unterschriebenes Urteil</translation>
        </message>
        <message>
            <source>not signed</source>
            <translation>nicht unterschrieben</translation>
        </message>
        <message>
            <source>{0} of {1} steps</source>
            <translation>{0} von {1} Schritten</translation>
        </message>
    </context>
    <context>
        <name>RowsTable</name>
        <message>
            <source>In the batch</source>
            <translation>Im Stapel</translation>
        </message>
        <message>
            <source>Row of the data</source>
            <translation>Zeile der Daten</translation>
        </message>
        <message>
            <source>Rows of the disputed step</source>
            <translation>Zeilen des strittigen Schritts</translation>
        </message>
        <message>
            <source>image of row {0}</source>
            <translation>Bild von Zeile {0}</translation>
        </message>
        <message>
            <source>not known</source>
            <translation>nicht bekannt</translation>
        </message>
        <message>
            <source>{0} of {1} rows are shown, those that differ first.</source>
            <translation>{0} von {1} Zeilen sind gezeigt, die abweichenden zuerst.</translation>
        </message>
        <message>
            <source>{0}, ordered</source>
            <translation>{0}, beauftragt</translation>
        </message>
        <message>
            <source>{0}, read</source>
            <translation>{0}, gelesen</translation>
        </message>
        <message>
            <source>{0}: the trainer's fingerprint is that of the ordered rows.</source>
            <translation>{0}: Der Fingerabdruck des Trainers ist der der beauftragten Zeilen.</translation>
        </message>
        <message>
            <source>{0}: {1} A batch that is changed so has exactly the trainer's fingerprint.</source>
            <translation>{0}: {1} Ein so geänderter Stapel hat genau den Fingerabdruck des Trainers.</translation>
        </message>
    </context>
    <context>
        <name>RulesDialog</name>
        <message>
            <source>&amp;Close</source>
            <translation>&amp;Schließen</translation>
        </message>
        <message>
            <source>&amp;Leave out the verdicts</source>
            <translation>Urteile &amp;weglassen</translation>
        </message>
        <message>
            <source>A verdict on the run</source>
            <translation>Ein Urteil zum Lauf</translation>
        </message>
        <message>
            <source>Add a &amp;verdict…</source>
            <translation>&amp;Urteil hinzufügen…</translation>
        </message>
        <message>
            <source>BROKEN: the run breaks a rule</source>
            <translation>BROKEN: Der Lauf bricht eine Regel</translation>
        </message>
        <message>
            <source>Being checked</source>
            <translation>Wird geprüft</translation>
        </message>
        <message>
            <source>Bound by</source>
            <translation>Gebunden durch</translation>
        </message>
        <message>
            <source>CANNOT BE TOLD: nothing says whether a rule is held</source>
            <translation>CANNOT BE TOLD: Nichts sagt, ob eine Regel eingehalten ist</translation>
        </message>
        <message>
            <source>Check &amp;again</source>
            <translation>&amp;Noch einmal prüfen</translation>
        </message>
        <message>
            <source>Choose a file of rules, or drop one here.</source>
            <translation>Wählen Sie eine Datei mit Regeln, oder ziehen Sie eine hierher.</translation>
        </message>
        <message>
            <source>Choose a file of rules.</source>
            <translation>Wählen Sie eine Datei mit Regeln.</translation>
        </message>
        <message>
            <source>Choose the &amp;rules…</source>
            <translation>&amp;Regeln wählen…</translation>
        </message>
        <message>
            <source>HELD: the run holds every rule</source>
            <translation>HELD: Der Lauf hält jede Regel ein</translation>
        </message>
        <message>
            <source>Held: {0}. Broken: {1}. Cannot be told: {2}.</source>
            <translation>Eingehalten: {0}. Gebrochen: {1}. Nicht zu entscheiden: {2}.</translation>
        </message>
        <message>
            <source>No rules yet</source>
            <translation>Noch keine Regeln</translation>
        </message>
        <message>
            <source>No verdict is given: a rule that asks for one cannot be told.</source>
            <translation>Es ist kein Urteil angegeben: Eine Regel, die eines verlangt, lässt sich nicht entscheiden.</translation>
        </message>
        <message>
            <source>Not checked</source>
            <translation>Nicht geprüft</translation>
        </message>
        <message>
            <source>Nothing is replayed. All that the trainer signed could be untrue: a rule on a verdict asks that somebody looked.</source>
            <translation>Es wird nichts nachgerechnet. Alles, was der Trainer unterschrieben hat, könnte unwahr sein: Eine Regel zu Urteilen verlangt, dass jemand nachgesehen hat.</translation>
        </message>
        <message>
            <source>Outcome</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>Progress of the check</source>
            <translation>Fortschritt der Prüfung</translation>
        </message>
        <message>
            <source>Rule</source>
            <translation>Regel</translation>
        </message>
        <message>
            <source>Rules</source>
            <translation>Regeln</translation>
        </message>
        <message>
            <source>Rules (*.toml);;All files (*)</source>
            <translation>Regeln (*.toml);;Alle Dateien (*)</translation>
        </message>
        <message>
            <source>Rules on {0}</source>
            <translation>Regeln für {0}</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>SHA-256</source>
            <translation>SHA-256</translation>
        </message>
        <message>
            <source>The check was stopped.</source>
            <translation>Die Prüfung wurde angehalten.</translation>
        </message>
        <message>
            <source>The rules</source>
            <translation>Die Regeln</translation>
        </message>
        <message>
            <source>The rules, and what came of each</source>
            <translation>Die Regeln, und was jede ergab</translation>
        </message>
        <message>
            <source>The run is opened.</source>
            <translation>Der Lauf wird geöffnet.</translation>
        </message>
        <message>
            <source>Title</source>
            <translation>Titel</translation>
        </message>
        <message>
            <source>Verdicts (*.json)</source>
            <translation>Urteile (*.json)</translation>
        </message>
        <message>
            <source>Verdicts that are given: {0}</source>
            <translation>Angegebene Urteile: {0}</translation>
        </message>
        <message>
            <source>What came of the rules</source>
            <translation>Was die Regeln ergaben</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>Was gefunden wurde</translation>
        </message>
        <message>
            <source>What was found of the chosen rule</source>
            <translation>Was zur gewählten Regel gefunden wurde</translation>
        </message>
        <message>
            <source>broken</source>
            <translation>gebrochen</translation>
        </message>
        <message>
            <source>cannot be told</source>
            <translation>nicht zu entscheiden</translation>
        </message>
        <message>
            <source>held</source>
            <translation>eingehalten</translation>
        </message>
    </context>
    <context>
        <name>RunView</name>
        <message>
            <source>A step takes</source>
            <translation>Ein Schritt braucht</translation>
        </message>
        <message>
            <source>Client's key</source>
            <translation>Schlüssel des Auftraggebers</translation>
        </message>
        <message>
            <source>Client's key is revoked</source>
            <translation>Schlüssel des Auftraggebers ist widerrufen</translation>
        </message>
        <message>
            <source>Client's signature</source>
            <translation>Unterschrift des Auftraggebers</translation>
        </message>
        <message>
            <source>Commitments</source>
            <translation>Festlegungen</translation>
        </message>
        <message>
            <source>Data</source>
            <translation>Daten</translation>
        </message>
        <message>
            <source>Data file</source>
            <translation>Datendatei</translation>
        </message>
        <message>
            <source>File</source>
            <translation>Datei</translation>
        </message>
        <message>
            <source>Made from</source>
            <translation>Hergestellt aus</translation>
        </message>
        <message>
            <source>Margins</source>
            <translation>Toleranzen</translation>
        </message>
        <message>
            <source>Not known</source>
            <translation>Nicht bekannt</translation>
        </message>
        <message>
            <source>Operators</source>
            <translation>Operatoren</translation>
        </message>
        <message>
            <source>Precision, exactly</source>
            <translation>Genauigkeit, genau</translation>
        </message>
        <message>
            <source>Recipe</source>
            <translation>Rezept</translation>
        </message>
        <message>
            <source>Recomputed</source>
            <translation>Neu berechnet</translation>
        </message>
        <message>
            <source>Recorded</source>
            <translation>Aufgezeichnet</translation>
        </message>
        <message>
            <source>Revision</source>
            <translation>Revision</translation>
        </message>
        <message>
            <source>Rounded</source>
            <translation>Gerundet</translation>
        </message>
        <message>
            <source>Rounding log</source>
            <translation>Rundungsprotokoll</translation>
        </message>
        <message>
            <source>Run and keys</source>
            <translation>Lauf und Schlüssel</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>Script</source>
            <translation>Skript</translation>
        </message>
        <message>
            <source>Signed at</source>
            <translation>Unterschrieben am</translation>
        </message>
        <message>
            <source>Size</source>
            <translation>Größe</translation>
        </message>
        <message>
            <source>State</source>
            <translation>Zustand</translation>
        </message>
        <message>
            <source>Stored states</source>
            <translation>Gespeicherte Zustände</translation>
        </message>
        <message>
            <source>The bundle could not be read.</source>
            <translation>Das Bündel konnte nicht gelesen werden.</translation>
        </message>
        <message>
            <source>The order</source>
            <translation>Der Auftrag</translation>
        </message>
        <message>
            <source>The run</source>
            <translation>Der Lauf</translation>
        </message>
        <message>
            <source>This order has not been run.</source>
            <translation>Dieser Auftrag wurde nicht ausgeführt.</translation>
        </message>
        <message>
            <source>Trainer's acceptance</source>
            <translation>Annahme durch den Trainer</translation>
        </message>
        <message>
            <source>Trainer's environment</source>
            <translation>Umgebung des Trainers</translation>
        </message>
        <message>
            <source>Trainer's key</source>
            <translation>Schlüssel des Trainers</translation>
        </message>
        <message>
            <source>none: every result is defined</source>
            <translation>keine: Jedes Ergebnis ist festgelegt</translation>
        </message>
        <message>
            <source>not read yet</source>
            <translation>noch nicht gelesen</translation>
        </message>
        <message>
            <source>not signed</source>
            <translation>nicht unterschrieben</translation>
        </message>
        <message>
            <source>nothing yet: this order has not been run</source>
            <translation>noch nichts: Dieser Auftrag wurde nicht ausgeführt</translation>
        </message>
        <message>
            <source>of it judged</source>
            <translation>davon beurteilt</translation>
        </message>
        <message>
            <source>proven for every operator</source>
            <translation>für jeden Operator bewiesen</translation>
        </message>
        <message>
            <source>state digested every {0}, stored every {1} steps</source>
            <translation>Zustand alle {0} Schritte festgelegt, alle {1} gespeichert</translation>
        </message>
        <message>
            <source>without a proven bound: {0}</source>
            <translation>ohne bewiesene Schranke: {0}</translation>
        </message>
        <message>
            <source>{0} more files</source>
            <translation>{0} weitere Dateien</translation>
        </message>
        <message>
            <source>{0} parameters; {1} state tensors, {2}</source>
            <translation>{0} Parameter; {1} Zustandstensoren, {2}</translation>
        </message>
        <message>
            <source>{0}, as the trainer says</source>
            <translation>{0}, nach Angabe des Trainers</translation>
        </message>
        <message>
            <source>{0}, not chosen yet</source>
            <translation>{0}, noch nicht gewählt</translation>
        </message>
    </context>
    <context>
        <name>SavePage</name>
        <message>
            <source>&amp;Print the card…</source>
            <translation>Karte d&amp;rucken…</translation>
        </message>
        <message>
            <source>&amp;Save order</source>
            <translation>Auftrag &amp;speichern</translation>
        </message>
        <message>
            <source>Choose where the order goes</source>
            <translation>Auswählen, wohin der Auftrag kommt</translation>
        </message>
        <message>
            <source>Choose…</source>
            <translation>Wählen…</translation>
        </message>
        <message>
            <source>Copy the &amp;digest</source>
            <translation>&amp;Digest kopieren</translation>
        </message>
        <message>
            <source>Order file</source>
            <translation>Auftragsdatei</translation>
        </message>
        <message>
            <source>Orders (*.cfoil)</source>
            <translation>Aufträge (*.cfoil)</translation>
        </message>
        <message>
            <source>Save the card as &amp;text…</source>
            <translation>Karte als &amp;Text speichern…</translation>
        </message>
        <message>
            <source>Save the order</source>
            <translation>Auftrag speichern</translation>
        </message>
        <message>
            <source>Saved: {0}. Keep it, and give the trainer a copy. It is unsigned: 'counterfoil sign-order' signs it with your key.</source>
            <translation>Gespeichert: {0}. Bewahren Sie die Datei auf, und geben Sie dem Trainer eine Kopie. Der Auftrag ist nicht unterschrieben: 'counterfoil sign-order' unterschreibt ihn mit Ihrem Schlüssel.</translation>
        </message>
        <message>
            <source>The order is ready. Its digest names it: note it, so that nobody can give you another order for it.</source>
            <translation>Der Auftrag ist fertig. Sein Digest benennt ihn: Notieren Sie ihn, damit Ihnen niemand einen anderen Auftrag dafür geben kann.</translation>
        </message>
    </context>
    <context>
        <name>SealDialog</name>
        <message>
            <source>Save dispute capsule</source>
            <translation>Streitfallkapsel speichern</translation>
        </message>
        <message>
            <source>Save…</source>
            <translation>Speichern …</translation>
        </message>
        <message>
            <source>Who may read it</source>
            <translation>Wer sie lesen darf</translation>
        </message>
    </context>
    <context>
        <name>SettingsPage</name>
        <message>
            <source>Loss against float32</source>
            <translation>Verlust gegen float32</translation>
        </message>
        <message>
            <source>More settings</source>
            <translation>Weitere Einstellungen</translation>
        </message>
        <message>
            <source>Profile</source>
            <translation>Profil</translation>
        </message>
        <message>
            <source>Rounding log</source>
            <translation>Rundungsprotokoll</translation>
        </message>
        <message>
            <source>Time: a recorded step over one of float32 training, {0} and {1}, one thread. Loss: against float32 on held-out data, {2}, mean of five seeds. docs/profiles.md and docs/accuracy.md have all figures.</source>
            <translation>Zeit: ein aufgezeichneter Schritt gegen einen gewöhnlichen in float32, {0} und {1}, ein Thread. Verlust: gegen float32 auf zurückgehaltenen Daten, {2}, Mittel aus fünf Startwerten. Alle Zahlen stehen in docs/profiles.md und docs/accuracy.md.</translation>
        </message>
        <message>
            <source>Time: {0}</source>
            <translation>Zeit: {0}</translation>
        </message>
        <message>
            <source>What is left empty is as the grey text says.</source>
            <translation>Was leer bleibt, ist so, wie der graue Text sagt.</translation>
        </message>
        <message>
            <source>What precision profiles cost</source>
            <translation>Was Genauigkeitsprofile kosten</translation>
        </message>
        <message>
            <source>no</source>
            <translation>nein</translation>
        </message>
        <message>
            <source>not measured</source>
            <translation>nicht gemessen</translation>
        </message>
        <message>
            <source>yes</source>
            <translation>ja</translation>
        </message>
        <message>
            <source>{0} times</source>
            <translation>{0}-fach</translation>
        </message>
        <message>
            <source>{0}, beyond the spread of seeds</source>
            <translation>{0}, mehr als zwischen Startwerten</translation>
        </message>
    </context>
    <context>
        <name>ShareStrip</name>
        <message>
            <source>as the trainer signed it</source>
            <translation>wie vom Trainer unterschrieben</translation>
        </message>
        <message>
            <source>differs from what the trainer signed</source>
            <translation>weicht von dem ab, was der Trainer unterschrieben hat</translation>
        </message>
        <message>
            <source>not judged: a part before it differs</source>
            <translation>nicht beurteilt: Ein Teil davor weicht ab</translation>
        </message>
    </context>
    <context>
        <name>Shell</name>
        <message>
            <source>&amp;About Counterfoil</source>
            <translation>Ü&amp;ber Counterfoil</translation>
        </message>
        <message>
            <source>&amp;Copy the log</source>
            <translation>&amp;Protokoll kopieren</translation>
        </message>
        <message>
            <source>&amp;Help</source>
            <translation>&amp;Hilfe</translation>
        </message>
        <message>
            <source>&amp;Keyboard shortcuts</source>
            <translation>&amp;Tastenkürzel</translation>
        </message>
        <message>
            <source>&amp;Preferences…</source>
            <translation>E&amp;instellungen…</translation>
        </message>
        <message>
            <source>&amp;Undo layout change</source>
            <translation>Anordnung: &amp;rückgängig</translation>
        </message>
        <message>
            <source>All keys on one sheet</source>
            <translation>Alle Tasten auf einem Blatt</translation>
        </message>
        <message>
            <source>Change it once more</source>
            <translation>Die Änderung wiederherstellen</translation>
        </message>
        <message>
            <source>Copy every line of the log, for a report</source>
            <translation>Jede Zeile des Protokolls kopieren, für eine Fehlermeldung</translation>
        </message>
        <message>
            <source>Copy the cell; a shortened hash is copied whole</source>
            <translation>Die Zelle kopieren; ein gekürzter Hash wird ganz kopiert</translation>
        </message>
        <message>
            <source>Counterfoil was ended by a signal before. Where it was is kept on this machine: {0}</source>
            <translation>Counterfoil wurde zuvor durch ein Signal beendet. Wo es da war, liegt auf diesem Rechner: {0}</translation>
        </message>
        <message>
            <source>Everywhere</source>
            <translation>Überall</translation>
        </message>
        <message>
            <source>Examine the machine that computes, and copy what it has</source>
            <translation>Den Rechner untersuchen, der rechnet, und kopieren, was er mitbringt</translation>
        </message>
        <message>
            <source>First and last line</source>
            <translation>Erste und letzte Zeile</translation>
        </message>
        <message>
            <source>Log</source>
            <translation>Protokoll</translation>
        </message>
        <message>
            <source>Next and previous control</source>
            <translation>Nächstes und voriges Bedienelement</translation>
        </message>
        <message>
            <source>Next and previous line</source>
            <translation>Nächste und vorige Zeile</translation>
        </message>
        <message>
            <source>Open the help page of the view that has the keyboard</source>
            <translation>Die Hilfeseite der Ansicht öffnen, die die Tastatur hat</translation>
        </message>
        <message>
            <source>Open the menus</source>
            <translation>Die Menüs öffnen</translation>
        </message>
        <message>
            <source>R&amp;edo layout change</source>
            <translation>Anordnung: wieder&amp;herstellen</translation>
        </message>
        <message>
            <source>Record a small run on this machine that departs from its order in one step, and open it</source>
            <translation>Auf diesem Rechner einen kleinen Lauf aufzeichnen, der in einem Schritt vom Auftrag abweicht, und ihn öffnen</translation>
        </message>
        <message>
            <source>Record a small run on this machine, as an honest trainer does, and open it</source>
            <translation>Auf diesem Rechner einen kleinen Lauf aufzeichnen, wie es ein ehrlicher Trainer tut, und ihn öffnen</translation>
        </message>
        <message>
            <source>Recording a sample in {0}.</source>
            <translation>Ein Beispiel wird in {0} aufgezeichnet.</translation>
        </message>
        <message>
            <source>Safe mode: without your settings, layout, cases, results and known trainers, which stay as they are. What you change is forgotten at the end; what you sign or save is kept.</source>
            <translation>Abgesicherter Modus: ohne Ihre Einstellungen, Anordnung, Fälle, Ergebnisse und bekannten Trainer, die bleiben, wie sie sind. Was Sie ändern, ist am Ende vergessen; was Sie signieren oder speichern, bleibt.</translation>
        </message>
        <message>
            <source>Sample: a t&amp;ampered run</source>
            <translation>Beispiel: &amp;manipulierter Lauf</translation>
        </message>
        <message>
            <source>Sample: an &amp;honest run</source>
            <translation>Beispiel: eh&amp;rlicher Lauf</translation>
        </message>
        <message>
            <source>Tables</source>
            <translation>Tabellen</translation>
        </message>
        <message>
            <source>Take the last change back</source>
            <translation>Die letzte Änderung zurücknehmen</translation>
        </message>
        <message>
            <source>The sample is ready: {0}</source>
            <translation>Das Beispiel ist fertig: {0}</translation>
        </message>
        <message>
            <source>Theme, language, device, files</source>
            <translation>Farben, Sprache, Gerät, Dateien</translation>
        </message>
        <message>
            <source>This &amp;machine…</source>
            <translation>Dieser &amp;Rechner…</translation>
        </message>
        <message>
            <source>Versions and licence</source>
            <translation>Versionen und Lizenz</translation>
        </message>
    </context>
    <context>
        <name>ShortcutSheet</name>
        <message>
            <source>Filter</source>
            <translation>Filtern</translation>
        </message>
        <message>
            <source>Filter the shortcuts</source>
            <translation>Tastenkürzel filtern</translation>
        </message>
        <message>
            <source>Keyboard shortcuts</source>
            <translation>Tastenkürzel</translation>
        </message>
        <message>
            <source>Keys</source>
            <translation>Tasten</translation>
        </message>
        <message>
            <source>What</source>
            <translation>Was</translation>
        </message>
        <message>
            <source>Where</source>
            <translation>Wo</translation>
        </message>
    </context>
    <context>
        <name>SigningDialog</name>
        <message>
            <source>A private key does not belong beside the trainer's file: choose another folder.</source>
            <translation>Ein privater Schlüssel gehört nicht neben die Datei des Trainers: Wählen Sie einen anderen Ordner.</translation>
        </message>
        <message>
            <source>A report to &amp;print (PDF)</source>
            <translation>Ein Bericht zum &amp;Drucken (PDF)</translation>
        </message>
        <message>
            <source>Also write</source>
            <translation>Auch schreiben</translation>
        </message>
        <message>
            <source>C&amp;ase and parties</source>
            <translation>&amp;Akte und Parteien</translation>
        </message>
        <message>
            <source>Choose the file to be signed</source>
            <translation>Die zu unterschreibende Datei wählen</translation>
        </message>
        <message>
            <source>Choose the private key file</source>
            <translation>Datei des privaten Schlüssels wählen</translation>
        </message>
        <message>
            <source>Choose…</source>
            <translation>Wählen…</translation>
        </message>
        <message>
            <source>Create a &amp;new key</source>
            <translation>&amp;Neuen Schlüssel erzeugen</translation>
        </message>
        <message>
            <source>Looking for the key ring of the system.</source>
            <translation>Der Schlüsselbund des Systems wird gesucht.</translation>
        </message>
        <message>
            <source>New private key</source>
            <translation>Neuer privater Schlüssel</translation>
        </message>
        <message>
            <source>Other users of this machine can read this private key: make it yours alone (chmod 600), and a new one if somebody may have read it.</source>
            <translation>Andere Benutzer dieses Rechners können diesen privaten Schlüssel lesen: Machen Sie ihn zu Ihrem allein (chmod 600), und einen neuen, falls ihn jemand gelesen haben kann.</translation>
        </message>
        <message>
            <source>Passphrase</source>
            <translation>Passwort</translation>
        </message>
        <message>
            <source>Passphrase again</source>
            <translation>Passwort noch einmal</translation>
        </message>
        <message>
            <source>Private key</source>
            <translation>Privater Schlüssel</translation>
        </message>
        <message>
            <source>Private key file</source>
            <translation>Datei des privaten Schlüssels</translation>
        </message>
        <message>
            <source>Remember the passphrase in the key &amp;ring of the system</source>
            <translation>Das Passwort im Schlüssel&amp;bund des Systems merken</translation>
        </message>
        <message>
            <source>Say where the key is and where the signed file goes.</source>
            <translation>Sagen Sie, wo der Schlüssel liegt und wohin die unterschriebene Datei soll.</translation>
        </message>
        <message>
            <source>Sign and save</source>
            <translation>Unterschreiben und speichern</translation>
        </message>
        <message>
            <source>Sign with my &amp;key</source>
            <translation>Mit meinem &amp;Schlüssel unterschreiben</translation>
        </message>
        <message>
            <source>Signing…</source>
            <translation>Wird unterschrieben…</translation>
        </message>
        <message>
            <source>The &amp;table of steps (CSV)</source>
            <translation>Die &amp;Tabelle der Schritte (CSV)</translation>
        </message>
        <message>
            <source>The public key is written beside it as {0}. Give it to those who check your verdicts.</source>
            <translation>Der öffentliche Schlüssel wird daneben als {0} geschrieben. Geben Sie ihn allen, die Ihre Urteile prüfen.</translation>
        </message>
        <message>
            <source>The same as &amp;JSON</source>
            <translation>Dasselbe als &amp;JSON</translation>
        </message>
        <message>
            <source>The statement as JSON</source>
            <translation>Das Statement als JSON</translation>
        </message>
        <message>
            <source>The statement in words</source>
            <translation>Das Statement in Worten</translation>
        </message>
        <message>
            <source>The statement is being prepared.</source>
            <translation>Das Statement wird vorbereitet.</translation>
        </message>
        <message>
            <source>The two passphrases differ.</source>
            <translation>Die beiden Passwörter sind verschieden.</translation>
        </message>
        <message>
            <source>There is a file of this name already; a key is never overwritten.</source>
            <translation>Eine Datei dieses Namens gibt es schon; ein Schlüssel wird nie überschrieben.</translation>
        </message>
        <message>
            <source>There is no such key file.</source>
            <translation>Diese Schlüsseldatei gibt es nicht.</translation>
        </message>
        <message>
            <source>What is signed</source>
            <translation>Was unterschrieben wird</translation>
        </message>
        <message>
            <source>What is signed, in &amp;words</source>
            <translation>Was unterschrieben wird, in &amp;Worten</translation>
        </message>
        <message>
            <source>Whoever checks what you sign needs the public key that belongs to this private key.</source>
            <translation>Wer prüft, was Sie unterschreiben, braucht den öffentlichen Schlüssel zu diesem privaten.</translation>
        </message>
        <message>
            <source>beside it: {0}</source>
            <translation>daneben: {0}</translation>
        </message>
    </context>
    <context>
        <name>StepStrip</name>
        <message>
            <source>All steps of the run</source>
            <translation>Alle Schritte des Laufs</translation>
        </message>
        <message>
            <source>Left and right arrow keys choose a step, Home and End the first and last</source>
            <translation>Die Pfeiltasten links und rechts wählen einen Schritt, Pos1 und Ende den ersten und den letzten</translation>
        </message>
        <message>
            <source>Step {0} of {1}: {2}</source>
            <translation>Schritt {0} von {1}: {2}</translation>
        </message>
        <message>
            <source>Step {0}: {1}</source>
            <translation>Schritt {0}: {1}</translation>
        </message>
        <message>
            <source>{0}: {1}</source>
            <translation>{0}: {1}</translation>
        </message>
    </context>
    <context>
        <name>StepsView</name>
        <message>
            <source>&amp;Go to step…</source>
            <translation>&amp;Zu Schritt gehen…</translation>
        </message>
        <message>
            <source>&amp;Keep this search as a button</source>
            <translation>Diese Suche als &amp;Knopf behalten</translation>
        </message>
        <message>
            <source>&amp;Next mismatch</source>
            <translation>&amp;Nächste Abweichung</translation>
        </message>
        <message>
            <source>&amp;Previous mismatch</source>
            <translation>&amp;Vorige Abweichung</translation>
        </message>
        <message>
            <source>&amp;Search…</source>
            <translation>S&amp;uchen…</translation>
        </message>
        <message>
            <source>All steps</source>
            <translation>Alle Schritte</translation>
        </message>
        <message>
            <source>Copied: the replay's hash of step {0}, {1}.</source>
            <translation>Kopiert: Hash der Nachrechnung von Schritt {0}, {1}.</translation>
        </message>
        <message>
            <source>Copied: the trainer's hash of step {0}, {1}.</source>
            <translation>Kopiert: Hash des Trainers von Schritt {0}, {1}.</translation>
        </message>
        <message>
            <source>Copy the &amp;replay's hash</source>
            <translation>Hash der Nac&amp;hrechnung kopieren</translation>
        </message>
        <message>
            <source>Copy the &amp;trainer's hash</source>
            <translation>Hash des &amp;Trainers kopieren</translation>
        </message>
        <message>
            <source>Copy the chosen &amp;lines</source>
            <translation>Gewählte Z&amp;eilen kopieren</translation>
        </message>
        <message>
            <source>Every step was judged.</source>
            <translation>Jeder Schritt wurde beurteilt.</translation>
        </message>
        <message>
            <source>Follow the replay</source>
            <translation>Der Nachrechnung folgen</translation>
        </message>
        <message>
            <source>Go to step</source>
            <translation>Zu Schritt gehen</translation>
        </message>
        <message>
            <source>Go to this step (Enter)</source>
            <translation>Zu diesem Schritt gehen (Eingabetaste)</translation>
        </message>
        <message>
            <source>Mismatches</source>
            <translation>Abweichungen</translation>
        </message>
        <message>
            <source>No log of a replayed step holds contradictions or omissions.</source>
            <translation>Kein Protokoll eines nachgerechneten Schritts enthält Widersprüche oder Auslassungen.</translation>
        </message>
        <message>
            <source>No replayed step differs.</source>
            <translation>Kein nachgerechneter Schritt weicht ab.</translation>
        </message>
        <message>
            <source>No replayed step needed a correction from the log.</source>
            <translation>Kein nachgerechneter Schritt brauchte eine Korrektur aus dem Protokoll.</translation>
        </message>
        <message>
            <source>No step is meant by this search.</source>
            <translation>Kein Schritt ist mit dieser Suche gemeint.</translation>
        </message>
        <message>
            <source>Not judged</source>
            <translation>Nicht beurteilt</translation>
        </message>
        <message>
            <source>Search steps by number, hash or condition</source>
            <translation>Schritte nach Nummer, Hash oder Bedingung suchen</translation>
        </message>
        <message>
            <source>Search: 10-20, hash, loss &gt; 1</source>
            <translation>Suche: 10-20, Hash, loss &gt; 1</translation>
        </message>
        <message>
            <source>Show in &amp;Dispute</source>
            <translation>Im &amp;Streitfall zeigen</translation>
        </message>
        <message>
            <source>Show in &amp;Merkle</source>
            <translation>Im &amp;Merkle-Baum zeigen</translation>
        </message>
        <message>
            <source>Show in Di&amp;vergence</source>
            <translation>In der Di&amp;vergenz zeigen</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>Schritt</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>Schritte</translation>
        </message>
        <message>
            <source>Steps (10-20, 37), the beginning of a hash (#3eeb), or a condition (loss &gt; 1 and corrections == 0)</source>
            <translation>Schritte (10-20, 37), der Anfang eines Hashes (#3eeb) oder eine Bedingung (loss &gt; 1 and corrections == 0)</translation>
        </message>
        <message>
            <source>Suspicious logs</source>
            <translation>Verdächtige Protokolle</translation>
        </message>
        <message>
            <source>There is no recorded step to show.</source>
            <translation>Es gibt keinen aufgezeichneten Schritt zu zeigen.</translation>
        </message>
        <message>
            <source>Which steps are shown</source>
            <translation>Welche Schritte gezeigt werden</translation>
        </message>
        <message>
            <source>With corrections</source>
            <translation>Mit Korrekturen</translation>
        </message>
    </context>
    <context>
        <name>TensorView</name>
        <message>
            <source>Element</source>
            <translation>Elementindex</translation>
        </message>
        <message>
            <source>Histogram of the distances</source>
            <translation>Histogramm der Abstände</translation>
        </message>
        <message>
            <source>Histogram of the values of both sides</source>
            <translation>Histogramm der Werte beider Seiten</translation>
        </message>
        <message>
            <source>How far the two sides lie apart, in units in the last place (heights are logarithms)</source>
            <translation>Wie weit die Seiten auseinanderliegen, in Einheiten der letzten Stelle (Höhen sind Logarithmen)</translation>
        </message>
        <message>
            <source>How the values are spread</source>
            <translation>Wie die Werte verteilt sind</translation>
        </message>
        <message>
            <source>Replay</source>
            <translation>Nachrechnung</translation>
        </message>
        <message>
            <source>Replay, exactly</source>
            <translation>Nachrechnung, exakt</translation>
        </message>
        <message>
            <source>The elements that lie farthest apart</source>
            <translation>Die Elemente, die am weitesten auseinanderliegen</translation>
        </message>
        <message>
            <source>The {0} of {1} differing elements that lie farthest apart</source>
            <translation>Die {0} von {1} abweichenden Elementen, die am weitesten auseinanderliegen</translation>
        </message>
        <message>
            <source>Trainer</source>
            <translation>Trainer</translation>
        </message>
        <message>
            <source>Trainer, exactly</source>
            <translation>Trainer, exakt</translation>
        </message>
        <message>
            <source>equal</source>
            <translation>gleich</translation>
        </message>
        <message>
            <source>ulps</source>
            <translation>Ulps</translation>
        </message>
        <message>
            <source>{0} to {1}</source>
            <translation>{0} bis {1}</translation>
        </message>
    </context>
    <context>
        <name>TrainerKeyPanel</name>
        <message>
            <source>Accept this key for the order</source>
            <translation>Diesen Schlüssel für den Auftrag annehmen</translation>
        </message>
        <message>
            <source>Keep name</source>
            <translation>Namen merken</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>Schlüssel</translation>
        </message>
        <message>
            <source>Name of this key</source>
            <translation>Name dieses Schlüssels</translation>
        </message>
        <message>
            <source>Name this key, for instance after its owner</source>
            <translation>Benennen Sie diesen Schlüssel, etwa nach seinem Besitzer</translation>
        </message>
        <message>
            <source>Signed by a key without a name, first met on {0}.</source>
            <translation>Unterschrieben mit einem Schlüssel ohne Namen, zuerst begegnet am {0}.</translation>
        </message>
        <message>
            <source>Signed by {0}, known since {1}.</source>
            <translation>Unterschrieben von {0}, bekannt seit {1}.</translation>
        </message>
        <message>
            <source>The key changed: until now, runs of this order were signed by {0}. Ask the trainer, by another way than the one the file came, whether this key is the right one.</source>
            <translation>Der Schlüssel hat gewechselt: Bisher waren Läufe dieses Auftrags von {0} unterschrieben. Fragen Sie den Trainer auf einem anderen Weg als dem, auf dem die Datei kam, ob dieser Schlüssel der richtige ist.</translation>
        </message>
        <message>
            <source>The key that signed this run does not count. {0}</source>
            <translation>Der Schlüssel, der diesen Lauf signiert hat, zählt nicht. {0}</translation>
        </message>
        <message>
            <source>The run carries no valid signature, so no key can be named.</source>
            <translation>Der Lauf trägt keine gültige Unterschrift; daher lässt sich kein Schlüssel nennen.</translation>
        </message>
        <message>
            <source>The run was signed before, as its trainer says; nothing else shows when. {0}</source>
            <translation>Der Lauf wurde vorher signiert, wie der Trainer sagt; sonst zeigt nichts, wann. {0}</translation>
        </message>
        <message>
            <source>This key is in your list as that of {0}, {1}: a run should not be signed with it.</source>
            <translation>Dieser Schlüssel steht in Ihrer Liste als der von {0} ({1}): Mit ihm sollte kein Lauf unterschrieben sein.</translation>
        </message>
        <message>
            <source>You meet this key for the first time. It is remembered from now on; compare it with the trainer's before you rely on it, and give it a name.</source>
            <translation>Sie begegnen diesem Schlüssel zum ersten Mal. Er wird von jetzt an gemerkt; vergleichen Sie ihn mit dem des Trainers, bevor Sie sich darauf verlassen, und geben Sie ihm einen Namen.</translation>
        </message>
        <message>
            <source>the run {0}</source>
            <translation>der Lauf {0}</translation>
        </message>
    </context>
    <context>
        <name>Transport</name>
        <message>
            <source>step {0}: {1} %</source>
            <translation>Schritt {0}: {1} %</translation>
        </message>
        <message>
            <source>{0} left</source>
            <translation>noch {0}</translation>
        </message>
        <message>
            <source>{0} of {1} steps</source>
            <translation>{0} von {1} Schritten</translation>
        </message>
        <message>
            <source>{0} of {1} workers</source>
            <translation>{0} von {1} Helfern</translation>
        </message>
        <message>
            <source>{0} segments</source>
            <translation>{0} Segmente</translation>
        </message>
        <message>
            <source>{0}: opening the run</source>
            <translation>{0}: öffnet den Lauf</translation>
        </message>
        <message>
            <source>{0}: segment {1}; {2}</source>
            <translation>{0}: Segment {1}; {2}</translation>
        </message>
        <message>
            <source>{0}: waiting; {1}</source>
            <translation>{0}: wartet; {1}</translation>
        </message>
        <message>
            <source>{0}: {1}</source>
            <translation>{0}: {1}</translation>
        </message>
    </context>
    <context>
        <name>TrustBar</name>
        <message>
            <source>What this rests on</source>
            <translation>Worauf dies beruht</translation>
        </message>
    </context>
    <context>
        <name>TrustDoors</name>
        <message>
            <source>What this rests on</source>
            <translation>Worauf dies beruht</translation>
        </message>
        <message>
            <source>{0}: {1}</source>
            <translation>{0}: {1}</translation>
        </message>
    </context>
    <context>
        <name>TryPage</name>
        <message>
            <source>&amp;Stop</source>
            <translation>&amp;Abbrechen</translation>
        </message>
        <message>
            <source>A step takes</source>
            <translation>Ein Schritt braucht</translation>
        </message>
        <message>
            <source>All {0} steps, here</source>
            <translation>Alle {0} Schritte, hier</translation>
        </message>
        <message>
            <source>First step, on this machine</source>
            <translation>Erster Schritt, auf diesem Rechner</translation>
        </message>
        <message>
            <source>Leave it out for jobs that only a larger machine can execute.</source>
            <translation>Lassen Sie das weg, wenn nur ein größerer Rechner den Schritt ausführen kann.</translation>
        </message>
        <message>
            <source>Progress of the order</source>
            <translation>Fortschritt des Auftrags</translation>
        </message>
        <message>
            <source>The first step is executed on this machine before the order is written, so that it does not fail at the trainer. It shows what a step takes.</source>
            <translation>Der erste Schritt wird auf diesem Rechner ausgeführt, bevor der Auftrag geschrieben wird, damit er nicht erst beim Trainer scheitert. Er zeigt, was ein Schritt braucht.</translation>
        </message>
        <message>
            <source>The order file</source>
            <translation>Die Auftragsdatei</translation>
        </message>
        <message>
            <source>The run of {0} steps</source>
            <translation>Der Lauf von {0} Schritten</translation>
        </message>
        <message>
            <source>The script itself runs here, too, in a copy of its folder: each step of the order is compared with what the script does, and whatever differs is refused.</source>
            <translation>Auch das Skript selbst läuft hier, in einer Kopie seines Ordners: Jeder Schritt des Auftrags wird mit dem verglichen, was das Skript tut, und was davon abweicht, wird abgelehnt.</translation>
        </message>
        <message>
            <source>about {0}</source>
            <translation>etwa {0}</translation>
        </message>
        <message>
            <source>less than {0} at that speed: the first step also prepares what the others use</source>
            <translation>weniger als {0} bei diesem Tempo: Der erste Schritt bereitet auch vor, was die anderen brauchen</translation>
        </message>
        <message>
            <source>loss {0}</source>
            <translation>Verlust {0}</translation>
        </message>
        <message>
            <source>{0}, of that {1} of rounding log</source>
            <translation>{0}, davon {1} Rundungsprotokoll</translation>
        </message>
        <message>
            <source>{0}, without the rounding log</source>
            <translation>{0}, ohne das Rundungsprotokoll</translation>
        </message>
    </context>
    <context>
        <name>VerdictDesk</name>
        <message>
            <source>My key</source>
            <translation>Mein Schlüssel</translation>
        </message>
    </context>
    <context>
        <name>VerdictViewer</name>
        <message>
            <source>&amp;Close</source>
            <translation>&amp;Schließen</translation>
        </message>
        <message>
            <source>A withdrawal by the auditor, or a reply of the trainer's</source>
            <translation>Ein Widerruf des Prüfers oder eine Erwiderung des Trainers</translation>
        </message>
        <message>
            <source>Add a &amp;statement…</source>
            <translation>Er&amp;klärung dazu…</translation>
        </message>
        <message>
            <source>Add a statement</source>
            <translation>Eine Erklärung dazu öffnen</translation>
        </message>
        <message>
            <source>Auditor's key</source>
            <translation>Schlüssel des Prüfers</translation>
        </message>
        <message>
            <source>Auditor's key is revoked</source>
            <translation>Schlüssel des Prüfers ist widerrufen</translation>
        </message>
        <message>
            <source>Auditor's public &amp;key…</source>
            <translation>&amp;Prüferschlüssel…</translation>
        </message>
        <message>
            <source>Being checked</source>
            <translation>Wird geprüft</translation>
        </message>
        <message>
            <source>Bundle</source>
            <translation>Bündel</translation>
        </message>
        <message>
            <source>Capsule</source>
            <translation>Kapsel</translation>
        </message>
        <message>
            <source>Claimed name</source>
            <translation>Angegebener Name</translation>
        </message>
        <message>
            <source>Client's key is revoked</source>
            <translation>Schlüssel des Auftraggebers ist widerrufen</translation>
        </message>
        <message>
            <source>Compare with a &amp;bundle…</source>
            <translation>Mit &amp;Bündel vergleichen…</translation>
        </message>
        <message>
            <source>Compare with a bundle</source>
            <translation>Mit einem Bündel vergleichen</translation>
        </message>
        <message>
            <source>Counterfoil bundles (*.cfoil)</source>
            <translation>Counterfoil-Bündel (*.cfoil)</translation>
        </message>
        <message>
            <source>Data: {0}</source>
            <translation>Daten: {0}</translation>
        </message>
        <message>
            <source>Disputed step</source>
            <translation>Strittiger Schritt</translation>
        </message>
        <message>
            <source>Duration</source>
            <translation>Dauer</translation>
        </message>
        <message>
            <source>Get the auditor's public key from the auditor, choose it, and confirm it. Until then anybody may have made this.</source>
            <translation>Lassen Sie sich den öffentlichen Schlüssel vom Prüfer geben, wählen Sie ihn und bestätigen Sie ihn. Bis dahin kann dies jeder gemacht haben.</translation>
        </message>
        <message>
            <source>It no longer counts. Its signature holds, and what it said was: {0}.</source>
            <translation>Es zählt nicht mehr. Seine Unterschrift ist gültig, und es sagte: {0}.</translation>
        </message>
        <message>
            <source>It says nothing of {0}. Its signature holds, and it found: {1}, for a file called {2} with another SHA-256.</source>
            <translation>Es sagt nichts über {0}. Seine Unterschrift ist gültig, und es stellt fest: {1}, für eine Datei namens {2} mit einem anderen SHA-256.</translation>
        </message>
        <message>
            <source>It speaks of a file called {0}. Compare it with your bundle: a name proves nothing.</source>
            <translation>Es spricht von einer Datei namens {0}. Vergleichen Sie es mit Ihrem Bündel: Ein Name beweist nichts.</translation>
        </message>
        <message>
            <source>It speaks of another file: the SHA-256 of {0} is not the one in the verdict.</source>
            <translation>Es spricht von einer anderen Datei: Der SHA-256-Hash von {0} ist nicht der im Urteil.</translation>
        </message>
        <message>
            <source>It speaks of this very file: {0}.</source>
            <translation>Es spricht von genau dieser Datei: {0}.</translation>
        </message>
        <message>
            <source>Job</source>
            <translation>Aufgabe</translation>
        </message>
        <message>
            <source>Key of a party is revoked</source>
            <translation>Schlüssel einer Partei ist widerrufen</translation>
        </message>
        <message>
            <source>Names the key</source>
            <translation>Nennt den Schlüssel</translation>
        </message>
        <message>
            <source>Not checked: signed with a key that you have not confirmed</source>
            <translation>Nicht geprüft: mit einem Schlüssel unterschrieben, den Sie nicht bestätigt haben</translation>
        </message>
        <message>
            <source>Operations</source>
            <translation>Operationen</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>Auftrag</translation>
        </message>
        <message>
            <source>Order digest</source>
            <translation>Digest des Auftrags</translation>
        </message>
        <message>
            <source>Parameters</source>
            <translation>Parameter</translation>
        </message>
        <message>
            <source>Public keys (*.pub.pem *.pem)</source>
            <translation>Öffentliche Schlüssel (*.pub.pem *.pem)</translation>
        </message>
        <message>
            <source>Reading {0}</source>
            <translation>{0} wird gelesen</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>SHA-256</source>
            <translation>SHA-256</translation>
        </message>
        <message>
            <source>Signed at</source>
            <translation>Unterschrieben am</translation>
        </message>
        <message>
            <source>Statements (*.json);;All files (*)</source>
            <translation>Erklärungen (*.json);;Alle Dateien (*)</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>Schritte</translation>
        </message>
        <message>
            <source>Superseded: its auditor put another verdict in its place</source>
            <translation>Ersetzt: Sein Prüfer hat ein anderes Urteil an seine Stelle gesetzt</translation>
        </message>
        <message>
            <source>The auditor's public key</source>
            <translation>Der öffentliche Schlüssel des Prüfers</translation>
        </message>
        <message>
            <source>The key is that of {0}.</source>
            <translation>Der Schlüssel ist der von {0}.</translation>
        </message>
        <message>
            <source>The key that signed this is the key that signed the run. A trainer cannot audit itself: what it says of its own run shows nothing.</source>
            <translation>Der Schlüssel, der dies unterschrieben hat, hat auch den Lauf unterschrieben. Ein Trainer kann sich nicht selbst prüfen: Was er über seinen eigenen Lauf sagt, zeigt nichts.</translation>
        </message>
        <message>
            <source>The signature holds: {0}</source>
            <translation>Die Unterschrift ist gültig: {0}</translation>
        </message>
        <message>
            <source>The trainer signed this about its own run</source>
            <translation>Der Trainer hat dies über seinen eigenen Lauf unterschrieben</translation>
        </message>
        <message>
            <source>This verdict does not count</source>
            <translation>Dieses Urteil zählt nicht</translation>
        </message>
        <message>
            <source>This verdict is about another file</source>
            <translation>Dieses Urteil betrifft eine andere Datei</translation>
        </message>
        <message>
            <source>This verdict no longer counts: its auditor's key was revoked</source>
            <translation>Dieses Urteil zählt nicht mehr: Der Schlüssel seines Prüfers wurde widerrufen</translation>
        </message>
        <message>
            <source>This verdict was not signed with that key</source>
            <translation>Dieses Urteil wurde nicht mit diesem Schlüssel unterschrieben</translation>
        </message>
        <message>
            <source>This verdict was signed before, as its auditor says; nothing else shows when.</source>
            <translation>Dieses Urteil wurde vorher signiert, wie sein Prüfer sagt; sonst zeigt nichts, wann.</translation>
        </message>
        <message>
            <source>Tokens looked up</source>
            <translation>Nachgeschlagene Token</translation>
        </message>
        <message>
            <source>Trainer's key is revoked</source>
            <translation>Schlüssel des Trainers ist widerrufen</translation>
        </message>
        <message>
            <source>Verdict: {0}</source>
            <translation>Urteil: {0}</translation>
        </message>
        <message>
            <source>WITHDRAWN by its auditor on {0}, as the auditor says. Do not rely on it.</source>
            <translation>WIDERRUFEN von seinem Prüfer am {0}, wie der Prüfer sagt. Verlassen Sie sich nicht darauf.</translation>
        </message>
        <message>
            <source>What it said was: {0}.</source>
            <translation>Es lautete: {0}.</translation>
        </message>
        <message>
            <source>What the verdict says</source>
            <translation>Was das Urteil sagt</translation>
        </message>
        <message>
            <source>Withdrawn: its auditor took it back</source>
            <translation>Widerrufen: Sein Prüfer hat es zurückgenommen</translation>
        </message>
        <message>
            <source>the audit could not read it</source>
            <translation>für die Prüfung nicht lesbar</translation>
        </message>
        <message>
            <source>{0} holds another key than the one that the verdict names. If it is the auditor's key, somebody else made this verdict: do not rely on it.</source>
            <translation>{0} enthält einen anderen Schlüssel als den, den das Urteil nennt. Ist es der des Prüfers, so hat jemand anderes dieses Urteil gemacht: Verlassen Sie sich nicht darauf.</translation>
        </message>
        <message>
            <source>{0} rows read, {1} of them different</source>
            <translation>{0} Zeilen gelesen, davon {1} verschiedene</translation>
        </message>
        <message>
            <source>{0}, as the auditor says</source>
            <translation>{0}, nach Angabe des Prüfers</translation>
        </message>
        <message>
            <source>{0}, as the trainer says</source>
            <translation>{0}, nach Angabe des Trainers</translation>
        </message>
        <message>
            <source>{0}, {1}</source>
            <translation>{0} ({1})</translation>
        </message>
        <message>
            <source>{0}. The window checks no certificate; 'counterfoil verify --roots' does.</source>
            <translation>{0}. Das Fenster prüft kein Zertifikat; „counterfoil verify --roots“ tut es.</translation>
        </message>
    </context>
    <context>
        <name>Waiting</name>
        <message>
            <source>&amp;Stop</source>
            <translation>&amp;Abbrechen</translation>
        </message>
        <message>
            <source>Progress of the look</source>
            <translation>Fortschritt</translation>
        </message>
    </context>
    <context>
        <name>WhatPage</name>
        <message>
            <source>Choose what is trained; everything else follows from it.</source>
            <translation>Wählen Sie, was trainiert wird; alles Übrige folgt daraus.</translation>
        </message>
    </context>
    <context>
        <name>WorkersDialog</name>
        <message>
            <source>C&amp;lose</source>
            <translation>Sch&amp;ließen</translation>
        </message>
        <message>
            <source>Workers</source>
            <translation>Helfer</translation>
        </message>
    </context>
    <context>
        <name>WorkersTable</name>
        <message>
            <source>Device</source>
            <translation>Gerät</translation>
        </message>
        <message>
            <source>Host</source>
            <translation>Rechner</translation>
        </message>
        <message>
            <source>No.</source>
            <translation>Nr.</translation>
        </message>
        <message>
            <source>Rate</source>
            <translation>Tempo</translation>
        </message>
        <message>
            <source>Segment</source>
            <translation>Segmentnummer</translation>
        </message>
        <message>
            <source>Segments done</source>
            <translation>Fertige Segmente</translation>
        </message>
        <message>
            <source>Steps done</source>
            <translation>Fertige Schritte</translation>
        </message>
        <message>
            <source>Workers</source>
            <translation>Helfer</translation>
        </message>
        <message>
            <source>can do no more</source>
            <translation>kann nicht mehr</translation>
        </message>
        <message>
            <source>no rate yet</source>
            <translation>noch keine Rate</translation>
        </message>
        <message>
            <source>not ready</source>
            <translation>nicht bereit</translation>
        </message>
        <message>
            <source>opening the run</source>
            <translation>öffnet den Lauf</translation>
        </message>
        <message>
            <source>replaying</source>
            <translation>rechnet nach</translation>
        </message>
        <message>
            <source>waiting</source>
            <translation>wartet</translation>
        </message>
        <message>
            <source>{0} of {1} workers replay; together {2} steps, {3}.</source>
            <translation>{0} von {1} Helfern rechnen nach; zusammen {2} Schritte, {3}.</translation>
        </message>
    </context>
    <context>
        <name>_Form</name>
        <message>
            <source>Choose: {0}</source>
            <translation>Auswählen: {0}</translation>
        </message>
        <message>
            <source>Choose…</source>
            <translation>Wählen…</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>Gerät</translation>
        </message>
    </context>
    <context>
        <name>case_words</name>
        <message>
            <source>Dispute capsule</source>
            <translation>Streitfallkapsel</translation>
        </message>
        <message>
            <source>Find it…</source>
            <translation>Suchen…</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>Öffnen</translation>
        </message>
        <message>
            <source>Open to replay</source>
            <translation>Zum Nachrechnen öffnen</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>Auftrag</translation>
        </message>
        <message>
            <source>Order {0}</source>
            <translation>Auftrag {0}</translation>
        </message>
        <message>
            <source>Resume</source>
            <translation>Fortsetzen</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>Lauf</translation>
        </message>
        <message>
            <source>Show</source>
            <translation>Anzeigen</translation>
        </message>
        <message>
            <source>Show the replay</source>
            <translation>Nachrechnung zeigen</translation>
        </message>
        <message>
            <source>Signed in {0}.</source>
            <translation>Unterschrieben in {0}.</translation>
        </message>
        <message>
            <source>Sign…</source>
            <translation>Unterschreiben…</translation>
        </message>
        <message>
            <source>So says {0} in {1}.</source>
            <translation>So steht es in {0} in {1}.</translation>
        </message>
        <message>
            <source>The replay of {0} ({1} steps) did not come to its end.</source>
            <translation>Die Nachrechnung von {0} ({1} Schritte) kam nicht zu ihrem Ende.</translation>
        </message>
        <message>
            <source>The replay of {0} stopped after step {1} of {2}.</source>
            <translation>Die Nachrechnung von {0} hielt nach Schritt {1} von {2} an.</translation>
        </message>
        <message>
            <source>The step that {0} in {1} is about was adjudicated here.</source>
            <translation>Über den Schritt, um den es in {0} in {1} geht, wurde hier geurteilt.</translation>
        </message>
        <message>
            <source>Verdict</source>
            <translation>Urteil</translation>
        </message>
        <message>
            <source>Weights</source>
            <translation>Gewichte</translation>
        </message>
        <message>
            <source>being replayed</source>
            <translation>wird nachgerechnet</translation>
        </message>
        <message>
            <source>given to you, not judged here</source>
            <translation>erhalten, hier nicht beurteilt</translation>
        </message>
        <message>
            <source>ordered</source>
            <translation>beauftragt</translation>
        </message>
        <message>
            <source>recorded, not replayed here</source>
            <translation>aufgezeichnet, hier nicht nachgerechnet</translation>
        </message>
        <message>
            <source>stopped</source>
            <translation>angehalten</translation>
        </message>
        <message>
            <source>{0} in {1} is replayed now.</source>
            <translation>{0} in {1} wird gerade nachgerechnet.</translation>
        </message>
        <message>
            <source>{0} in {1}.</source>
            <translation>{0} in {1}.</translation>
        </message>
        <message>
            <source>{0} in {1}. No run of it was opened here.</source>
            <translation>{0} in {1}. Ein Lauf davon wurde hier noch nicht geöffnet.</translation>
        </message>
        <message>
            <source>{0} in {1}. Replay it to see whether it comes out the same.</source>
            <translation>{0} in {1}. Rechnen Sie ihn nach, um zu sehen, ob dasselbe herauskommt.</translation>
        </message>
        <message>
            <source>{0} in {1}: the weights were compared here.</source>
            <translation>{0} in {1}: Die Gewichte wurden hier verglichen.</translation>
        </message>
        <message>
            <source>{0} is no longer in {1}: file moved; find it.</source>
            <translation>{0} liegt nicht mehr in {1}: Datei verschoben; suchen Sie sie.</translation>
        </message>
        <message>
            <source>{0} runs: {1}.</source>
            <translation>{0} Läufe: {1}.</translation>
        </message>
        <message>
            <source>{0}, file moved</source>
            <translation>{0}, Datei verschoben</translation>
        </message>
        <message>
            <source>{0}, not signed</source>
            <translation>{0}, nicht unterschrieben</translation>
        </message>
        <message>
            <source>{0}: {1} of {2} steps judged on {3}.</source>
            <translation>{0}: {1} von {2} Schritten beurteilt am {3}.</translation>
        </message>
    </context>
    <context>
        <name>comparison</name>
        <message>
            <source>Data</source>
            <translation>Daten</translation>
        </message>
        <message>
            <source>Early stopping</source>
            <translation>Vorzeitiges Ende</translation>
        </message>
        <message>
            <source>Initial state</source>
            <translation>Anfangszustand</translation>
        </message>
        <message>
            <source>Optimizer</source>
            <translation>Optimierer</translation>
        </message>
        <message>
            <source>Order digest</source>
            <translation>Digest des Auftrags</translation>
        </message>
        <message>
            <source>Precision</source>
            <translation>Genauigkeit</translation>
        </message>
        <message>
            <source>Program</source>
            <translation>Programm</translation>
        </message>
        <message>
            <source>Program {0}</source>
            <translation>Programm {0}</translation>
        </message>
        <message>
            <source>Rows per step</source>
            <translation>Zeilen je Schritt</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>Startwert</translation>
        </message>
        <message>
            <source>Shares</source>
            <translation>Anteile</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>Schritte</translation>
        </message>
        <message>
            <source>Title</source>
            <translation>Titel</translation>
        </message>
        <message>
            <source>Turns</source>
            <translation>Reihenfolge</translation>
        </message>
        <message>
            <source>{0} of {1} rows, added exactly</source>
            <translation>{0} zu {1} Zeilen, exakt addiert</translation>
        </message>
        <message>
            <source>{0} of {1} rows, side by side</source>
            <translation>{0} zu {1} Zeilen, nebeneinander</translation>
        </message>
    </context>
    <context>
        <name>dialogs</name>
        <message>
            <source>A verdict that was signed stays where it is.</source>
            <translation>Ein unterschriebenes Urteil bleibt, wo es ist.</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>Abbrechen</translation>
        </message>
        <message>
            <source>Choose another file…</source>
            <translation>Andere Datei wählen…</translation>
        </message>
        <message>
            <source>Close without saving</source>
            <translation>Ohne Speichern schließen</translation>
        </message>
        <message>
            <source>Copy details</source>
            <translation>Einzelheiten kopieren</translation>
        </message>
        <message>
            <source>Counterfoil</source>
            <translation>Counterfoil</translation>
        </message>
        <message>
            <source>Go back</source>
            <translation>Zurück</translation>
        </message>
        <message>
            <source>It is signed with the key {0}. Compare these digits with those of whoever answers for the list.</source>
            <translation>Sie ist mit dem Schlüssel {0} signiert. Vergleichen Sie diese Ziffern mit denen dessen, der für die Liste einsteht.</translation>
        </message>
        <message>
            <source>It stays among the results, and can be signed later.</source>
            <translation>Es bleibt unter den Ergebnissen und kann später unterschrieben werden.</translation>
        </message>
        <message>
            <source>Keep replaying</source>
            <translation>Weiter nachrechnen</translation>
        </message>
        <message>
            <source>Keep the window</source>
            <translation>Fenster behalten</translation>
        </message>
        <message>
            <source>Keys in it: {0}</source>
            <translation>Schlüssel darin: {0}</translation>
        </message>
        <message>
            <source>Leave it</source>
            <translation>Lassen</translation>
        </message>
        <message>
            <source>Nothing was concluded from it.</source>
            <translation>Daraus wurde nichts geschlossen.</translation>
        </message>
        <message>
            <source>Only if it is your own: whoever else has it signs as you.</source>
            <translation>Nur wenn es Ihr eigener ist: Wer ihn sonst noch hat, unterschreibt als Sie.</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>Entfernen</translation>
        </message>
        <message>
            <source>Remove the key of {0}?</source>
            <translation>Den Schlüssel von {0} entfernen?</translation>
        </message>
        <message>
            <source>Remove this result of {0}?</source>
            <translation>Dieses Ergebnis von {0} entfernen?</translation>
        </message>
        <message>
            <source>Replace</source>
            <translation>Ersetzen</translation>
        </message>
        <message>
            <source>Replace {0}?</source>
            <translation>{0} ersetzen?</translation>
        </message>
        <message>
            <source>Sign with it</source>
            <translation>Damit unterschreiben</translation>
        </message>
        <message>
            <source>Sign with the private key {0} from now on?</source>
            <translation>Von jetzt an mit dem privaten Schlüssel {0} unterschreiben?</translation>
        </message>
        <message>
            <source>Sign…</source>
            <translation>Unterschreiben…</translation>
        </message>
        <message>
            <source>Steps that are recorded are kept, and can be gone on with; what was only replayed is not.</source>
            <translation>Aufgezeichnete Schritte bleiben und können fortgesetzt werden; was nur nachgerechnet wurde, bleibt nicht.</translation>
        </message>
        <message>
            <source>Stop it and close</source>
            <translation>Abbrechen und schließen</translation>
        </message>
        <message>
            <source>Take in list {0} of revoked keys, of {1}?</source>
            <translation>Liste {0} widerrufener Schlüssel vom {1} aufnehmen?</translation>
        </message>
        <message>
            <source>Take it in</source>
            <translation>Aufnehmen</translation>
        </message>
        <message>
            <source>The order is not saved.</source>
            <translation>Der Auftrag ist nicht gespeichert.</translation>
        </message>
        <message>
            <source>The settings are remembered; the same order can be written again.</source>
            <translation>Die Einstellungen bleiben gemerkt; derselbe Auftrag lässt sich noch einmal schreiben.</translation>
        </message>
        <message>
            <source>What is in it now will be lost.</source>
            <translation>Was jetzt darin steht, geht verloren.</translation>
        </message>
        <message>
            <source>What it signed does not count any more, and another key of its owner is not noticed.</source>
            <translation>Was er unterschrieben hat, gilt dann nicht mehr, und ein anderer Schlüssel seines Besitzers fällt nicht mehr auf.</translation>
        </message>
        <message>
            <source>What was found so far stays among the results.</source>
            <translation>Was bisher gefunden wurde, bleibt unter den Ergebnissen.</translation>
        </message>
    </context>
    <context>
        <name>difference</name>
        <message>
            <source>Element {0}</source>
            <translation>Element {0}</translation>
        </message>
        <message>
            <source>First part that differs</source>
            <translation>Erster Teil, der abweicht</translation>
        </message>
        <message>
            <source>Its elements</source>
            <translation>Dessen Elemente</translation>
        </message>
        <message>
            <source>Machine: {0}</source>
            <translation>Rechner: {0}</translation>
        </message>
        <message>
            <source>Order digest</source>
            <translation>Digest des Auftrags</translation>
        </message>
        <message>
            <source>Results</source>
            <translation>Ergebnisse</translation>
        </message>
        <message>
            <source>Rounding log, which two honest machines need not share</source>
            <translation>Rundungsprotokoll, das zwei ehrliche Rechner nicht gemeinsam haben müssen</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>State, {0}: equal</source>
            <translation>Zustand, {0}: gleich</translation>
        </message>
        <message>
            <source>Steps ordered</source>
            <translation>Schritte, beauftragt</translation>
        </message>
        <message>
            <source>Steps recorded</source>
            <translation>Schritte, aufgezeichnet</translation>
        </message>
        <message>
            <source>The recorded output of the operator</source>
            <translation>Die aufgezeichnete Ausgabe des Operators</translation>
        </message>
        <message>
            <source>What the step read: {0}</source>
            <translation>Was der Schritt las: {0}</translation>
        </message>
        <message>
            <source>another from step {0} on</source>
            <translation>ein anderes ab Schritt {0}</translation>
        </message>
        <message>
            <source>another result</source>
            <translation>ein anderes Ergebnis</translation>
        </message>
        <message>
            <source>came out again here</source>
            <translation>kam hier wieder heraus</translation>
        </message>
        <message>
            <source>did not come out here</source>
            <translation>kam hier nicht heraus</translation>
        </message>
        <message>
            <source>follows from it</source>
            <translation>folgt daraus</translation>
        </message>
        <message>
            <source>not fingerprinted</source>
            <translation>ohne Fingerabdruck</translation>
        </message>
        <message>
            <source>one result</source>
            <translation>ein Ergebnis</translation>
        </message>
        <message>
            <source>the same result</source>
            <translation>dasselbe Ergebnis</translation>
        </message>
        <message>
            <source>the same up to step {0}</source>
            <translation>dieselben bis Schritt {0}</translation>
        </message>
        <message>
            <source>{0} of {1} elements differ, by up to {2}</source>
            <translation>{0} von {1} Elementen weichen ab, um bis zu {2}</translation>
        </message>
        <message>
            <source>{0} tensors</source>
            <translation>{0} Tensoren</translation>
        </message>
        <message>
            <source>{0}: {1} elements, up to {2} ulp</source>
            <translation>{0}: {1} Elemente, bis zu {2} Ulp</translation>
        </message>
    </context>
    <context>
        <name>digest_card</name>
        <message>
            <source>Counterfoil order</source>
            <translation>Counterfoil-Auftrag</translation>
        </message>
        <message>
            <source>Data</source>
            <translation>Daten</translation>
        </message>
        <message>
            <source>Day</source>
            <translation>Tag</translation>
        </message>
        <message>
            <source>Optimizer</source>
            <translation>Optimierer</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>Auftrag</translation>
        </message>
        <message>
            <source>Order digest (SHA-256)</source>
            <translation>Digest des Auftrags (SHA-256)</translation>
        </message>
        <message>
            <source>Precision profile</source>
            <translation>Genauigkeitsprofil</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>Startwert</translation>
        </message>
        <message>
            <source>The same order by the command line:</source>
            <translation>Derselbe Auftrag auf der Befehlszeile:</translation>
        </message>
        <message>
            <source>Training</source>
            <translation>Training</translation>
        </message>
        <message>
            <source>Whoever holds an order file with this digest holds this order: data, program, steps, seed, weights. The trainer's run names the same digest, and the verdict does.</source>
            <translation>Wer eine Auftragsdatei mit diesem Digest hat, hat diesen Auftrag: Daten, Programm, Schritte, Startwert, Gewichte. Der Lauf des Trainers nennt denselben Digest, und das Urteil ebenso.</translation>
        </message>
        <message>
            <source>{0} steps of {1} rows</source>
            <translation>{0} Schritte zu {1} Zeilen</translation>
        </message>
        <message>
            <source>{0}, in {1} shares each</source>
            <translation>{0}, in je {1} Anteilen</translation>
        </message>
    </context>
    <context>
        <name>divergence</name>
        <message>
            <source>Apart</source>
            <translation>Abstand</translation>
        </message>
        <message>
            <source>Bytes</source>
            <translation>Bytes</translation>
        </message>
        <message>
            <source>Entries of the rounding log</source>
            <translation>Einträge des Protokolls</translation>
        </message>
        <message>
            <source>Largest difference of each state tensor</source>
            <translation>Größter Unterschied jedes Zustandstensors</translation>
        </message>
        <message>
            <source>Loss</source>
            <translation>Verlust</translation>
        </message>
        <message>
            <source>Losses apart</source>
            <translation>Abstand der Verluste</translation>
        </message>
        <message>
            <source>Number</source>
            <translation>Anzahl</translation>
        </message>
        <message>
            <source>Size of the rounding log</source>
            <translation>Größe des Protokolls</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>Schritt</translation>
        </message>
        <message>
            <source>bytes of each step</source>
            <translation>Bytes jedes Schritts</translation>
        </message>
        <message>
            <source>contradictions, omissions</source>
            <translation>Widersprüche, Auslassungen</translation>
        </message>
        <message>
            <source>corrections</source>
            <translation>Korrekturen</translation>
        </message>
        <message>
            <source>disputed</source>
            <translation>strittig</translation>
        </message>
        <message>
            <source>entries of each step</source>
            <translation>Einträge jedes Schritts</translation>
        </message>
        <message>
            <source>equal</source>
            <translation>gleich</translation>
        </message>
        <message>
            <source>not finite</source>
            <translation>nicht endlich</translation>
        </message>
        <message>
            <source>nothing compared yet</source>
            <translation>noch nichts verglichen</translation>
        </message>
        <message>
            <source>replay</source>
            <translation>Nachrechnung</translation>
        </message>
        <message>
            <source>replay minus trainer</source>
            <translation>Nachrechnung minus Trainer</translation>
        </message>
        <message>
            <source>size of replay minus trainer</source>
            <translation>Größe von Nachrechnung minus Trainer</translation>
        </message>
        <message>
            <source>step {0} differs, and the stored states that were compared do not show it</source>
            <translation>Schritt {0} weicht ab, und die verglichenen gespeicherten Zustände zeigen es nicht</translation>
        </message>
        <message>
            <source>trainer</source>
            <translation>vom Trainer</translation>
        </message>
        <message>
            <source>{0} of {1} tensors differ</source>
            <translation>{0} von {1} Tensoren weichen ab</translation>
        </message>
        <message>
            <source>{0}: not compared</source>
            <translation>{0}: nicht verglichen</translation>
        </message>
        <message>
            <source>{0}: {1} at step {2}</source>
            <translation>{0}: {1} in Schritt {2}</translation>
        </message>
    </context>
    <context>
        <name>engine</name>
        <message>
            <source>'counterfoil trust add' makes one; --trust none reads without.</source>
            <translation>'counterfoil trust add' legt einen an; --trust none liest ohne.</translation>
        </message>
        <message>
            <source>, {0:,} different</source>
            <translation>, {0:,} abweichend</translation>
        </message>
        <message>
            <source>, {0:,} recorded</source>
            <translation>, {0:,} aufgezeichnet</translation>
        </message>
        <message>
            <source>--context; 64 with --size</source>
            <translation>wie --context; 64 mit --size</translation>
        </message>
        <message>
            <source>0.00005; 0.0002 with --lora</source>
            <translation>0.00005; 0.0002 mit --lora</translation>
        </message>
        <message>
            <source>0.001; 0.00005 with --weights</source>
            <translation>0.001; 0.00005 mit --weights</translation>
        </message>
        <message>
            <source>0: at all</source>
            <translation>0: überhaupt</translation>
        </message>
        <message>
            <source>256, or what the model can see</source>
            <translation>256, oder was das Modell sehen kann</translation>
        </message>
        <message>
            <source>A B-tree of the file has more records than it says.</source>
            <translation>Ein B-Baum der Datei hat mehr Einträge, als er angibt.</translation>
        </message>
        <message>
            <source>A JSON object has the same key twice.</source>
            <translation>Ein JSON-Objekt hat denselben Schlüssel zweimal.</translation>
        </message>
        <message>
            <source>A JSON record has {0} bytes; {1} are read.</source>
            <translation>Ein JSON-Datensatz hat {0} Bytes; {1} werden gelesen.</translation>
        </message>
        <message>
            <source>A JSON record holds more than {0} values, which is more than is read.</source>
            <translation>Ein JSON-Datensatz enthält mehr als {0} Werte; so viele werden nicht gelesen.</translation>
        </message>
        <message>
            <source>A JSON record is not in canonical form.</source>
            <translation>Ein JSON-Datensatz ist nicht in kanonischer Form.</translation>
        </message>
        <message>
            <source>A JSON record is not in canonical form: it has space between its values.</source>
            <translation>Ein JSON-Datensatz ist nicht in kanonischer Form: Zwischen seinen Werten stehen Leerzeichen.</translation>
        </message>
        <message>
            <source>A JSON value is nested more than {0} levels deep, or its brackets do not match.</source>
            <translation>Ein JSON-Wert ist tiefer als {0} Ebenen geschachtelt, oder seine Klammern passen nicht zusammen.</translation>
        </message>
        <message>
            <source>A PIN in the name of a key can be read by whoever lists processes.</source>
            <translation>Eine PIN im Namen eines Schlüssels kann lesen, wer die Prozesse auflistet.</translation>
        </message>
        <message>
            <source>A bad fraction is more than 0 and at most 1; {0} is not.</source>
            <translation>Ein schlechter Anteil ist größer als 0 und höchstens 1; {0} ist es nicht.</translation>
        </message>
        <message>
            <source>A capsule about a part of a step holds the leaves of two steps, and this one has more.</source>
            <translation>Eine Kapsel über einen Teil eines Schritts enthält die Blätter von zwei Schritten, und diese hat mehr.</translation>
        </message>
        <message>
            <source>A condition has at most {0} characters.</source>
            <translation>Eine Bedingung hat höchstens {0} Zeichen.</translation>
        </message>
        <message>
            <source>A condition knows comparisons, and, or, not, abs, + - * /, and nothing like {0}.</source>
            <translation>Eine Bedingung kennt Vergleiche, and, or, not, abs, + - * / und nichts wie {0}.</translation>
        </message>
        <message>
            <source>A confidence lies between 0 and 1; {0} does not.</source>
            <translation>Eine Sicherheit liegt zwischen 0 und 1; {0} nicht.</translation>
        </message>
        <message>
            <source>A consistency proof between trees of equal size is empty.</source>
            <translation>Ein Konsistenzbeweis zwischen gleich großen Bäumen ist leer.</translation>
        </message>
        <message>
            <source>A data file cannot be called {0}: that is not a plain file name.</source>
            <translation>Eine Datendatei kann nicht {0} heißen: Das ist kein einfacher Dateiname.</translation>
        </message>
        <message>
            <source>A dispute about step {0} starts from the last state before it that the run commits to, and the capsule's starts from step {1}.</source>
            <translation>Ein Streitfall über Schritt {0} beginnt beim letzten Zustand davor, auf den sich der Lauf festlegt; der der Kapsel beginnt bei Schritt {1}.</translation>
        </message>
        <message>
            <source>A dispute counts, and {0} clean runs that were replayed whole came after it; all is replayed until there are {1}.</source>
            <translation>Ein Streitfall zählt, und seither kamen {0} saubere Läufe, die ganz nachgerechnet wurden; alles wird nachgerechnet, bis es {1} sind.</translation>
        </message>
        <message>
            <source>A file holds the proofs of 1 to {0} places.</source>
            <translation>Eine Datei enthält die Beweise von 1 bis {0} Stellen.</translation>
        </message>
        <message>
            <source>A file is sealed for {0} judges at most.</source>
            <translation>Eine Datei wird für höchstens {0} Schiedsrichter versiegelt.</translation>
        </message>
        <message>
            <source>A file, or a folder of files: .jsonl or .parquet with the columns text, prompt and completion, text and label, image and label, or audio and text; images in a folder for each class; anything else is plain text.</source>
            <translation>Eine Datei oder ein Ordner von Dateien: .jsonl oder .parquet mit den Spalten text, prompt und completion, text und label, image und label oder audio und text; Bilder in einem Ordner für jede Klasse; alles andere ist einfacher Text.</translation>
        </message>
        <message>
            <source>A kernel could not be compiled, or not be started on the device.</source>
            <translation>Ein Kernel ließ sich nicht übersetzen oder auf dem Gerät nicht starten.</translation>
        </message>
        <message>
            <source>A key that is trusted has a name.</source>
            <translation>Ein Schlüssel, dem vertraut wird, hat einen Namen.</translation>
        </message>
        <message>
            <source>A line was taken out, put in or moved: ask the witness for the log.</source>
            <translation>Eine Zeile wurde entfernt, eingefügt oder verschoben: Bitten Sie den Zeugen um das Protokoll.</translation>
        </message>
        <message>
            <source>A local folder as for 'order hf'. Nothing is downloaded, and no code of it is run.</source>
            <translation>Ein lokaler Ordner wie bei „order hf“. Nichts wird heruntergeladen, und kein Code daraus wird ausgeführt.</translation>
        </message>
        <message>
            <source>A local folder with config.json, weights as safetensors, and tokenizer.json or preprocessor_config.json. Nothing is downloaded.</source>
            <translation>Ein Ordner auf diesem Rechner mit config.json, Gewichten als safetensors und tokenizer.json oder preprocessor_config.json. Es wird nichts heruntergeladen.</translation>
        </message>
        <message>
            <source>A margin of the precision is not an integer.</source>
            <translation>Eine Toleranz der Genauigkeit ist keine ganze Zahl.</translation>
        </message>
        <message>
            <source>A message of the engine's process cannot be read.</source>
            <translation>Eine Nachricht des Rechenprozesses ist nicht lesbar.</translation>
        </message>
        <message>
            <source>A name has at most {0} printable characters.</source>
            <translation>Ein Name hat höchstens {0} druckbare Zeichen.</translation>
        </message>
        <message>
            <source>A nonce draws a sample.</source>
            <translation>Eine Nonce zieht eine Stichprobe.</translation>
        </message>
        <message>
            <source>A nonce is 64 lower-case hexadecimal digits.</source>
            <translation>Eine Nonce besteht aus 64 kleinen Hexadezimalziffern.</translation>
        </message>
        <message>
            <source>A nonce is given, or taken from a beacon, not both.</source>
            <translation>Eine Nonce wird angegeben oder einem öffentlichen Signal entnommen, nicht beides.</translation>
        </message>
        <message>
            <source>A number in a rounding log is truncated, too large, or not in its shortest form.</source>
            <translation>Eine Zahl in einem Rundungsprotokoll ist abgeschnitten, zu groß oder nicht in ihrer kürzesten Form.</translation>
        </message>
        <message>
            <source>A party that answers for shares of the run signed it, which is no audit.</source>
            <translation>Eine Partei, die für Anteile des Laufs einsteht, hat es unterschrieben: Das ist keine Prüfung.</translation>
        </message>
        <message>
            <source>A process of Counterfoil cannot be started: {0}.</source>
            <translation>Ein Prozess von Counterfoil lässt sich nicht starten: {0}.</translation>
        </message>
        <message>
            <source>A process of Counterfoil ended: {0}. Nothing was concluded.</source>
            <translation>Ein Prozess von Counterfoil endete: {0}. Es wurde nichts gefolgert.</translation>
        </message>
        <message>
            <source>A process of Counterfoil said what it may not say.</source>
            <translation>Ein Prozess von Counterfoil sagte, was er nicht sagen darf.</translation>
        </message>
        <message>
            <source>A product adds {0:,} terms to an element; with operands of {1} and {2} bits at most {3:,} are exact.</source>
            <translation>Ein Produkt addiert {0:,} Terme zu einem Element; mit Operanden von {1} und {2} Bit sind höchstens {3:,} exakt.</translation>
        </message>
        <message>
            <source>A proof would show bytes of other rows: data are hashed in chunks of {0} bytes, and a row of {1} has {2}.</source>
            <translation>Ein Beweis würde Bytes anderer Zeilen zeigen: Daten werden in Blöcken von {0} Bytes gehasht, und eine Zeile von {1} hat {2}.</translation>
        </message>
        <message>
            <source>A public sealing key is damaged: its checksum does not fit.</source>
            <translation>Ein öffentlicher Siegelschlüssel ist beschädigt: Seine Prüfsumme stimmt nicht.</translation>
        </message>
        <message>
            <source>A public size, in the place of the next four.</source>
            <translation>Eine veröffentlichte Größe, anstelle der nächsten vier.</translation>
        </message>
        <message>
            <source>A record is not JSON.</source>
            <translation>Ein Datensatz ist kein JSON.</translation>
        </message>
        <message>
            <source>A record of the program has missing or unknown fields.</source>
            <translation>Ein Datensatz des Programms hat fehlende oder unbekannte Felder.</translation>
        </message>
        <message>
            <source>A replay of the smallest run takes about 1 GiB. Close other programs before you start one.</source>
            <translation>Die Nachrechnung des kleinsten Laufs braucht etwa 1 GiB. Schließen Sie andere Programme, bevor Sie eine starten.</translation>
        </message>
        <message>
            <source>A reply of {0} does not count: its key was revoked.</source>
            <translation>Eine Antwort vom {0} zählt nicht: Ihr Schlüssel wurde widerrufen.</translation>
        </message>
        <message>
            <source>A report to hand over is called {0} or {1}.</source>
            <translation>Ein Bericht zum Übergeben heißt {0} oder {1}.</translation>
        </message>
        <message>
            <source>A rounding log has {0} bytes too many.</source>
            <translation>Ein Rundungsprotokoll hat {0} Bytes zu viel.</translation>
        </message>
        <message>
            <source>A rounding log is truncated, or not one of this format.</source>
            <translation>Ein Rundungsprotokoll ist abgeschnitten oder nicht von diesem Format.</translation>
        </message>
        <message>
            <source>A row of {0} has the shape {1}, which does not fit.</source>
            <translation>Eine Zeile von {0} hat die Form {1}, was nicht passt.</translation>
        </message>
        <message>
            <source>A row without any bytes has no proof.</source>
            <translation>Von einer Zeile ohne Bytes gibt es keinen Beweis.</translation>
        </message>
        <message>
            <source>A rule to stop early asks for a fall of {0}; it must be a number from 0.</source>
            <translation>Eine Regel zum vorzeitigen Ende verlangt einen Rückgang um {0}; es muss eine Zahl ab 0 sein.</translation>
        </message>
        <message>
            <source>A rule to stop early looks back {0} steps; it must be a whole number from 1.</source>
            <translation>Eine Regel zum vorzeitigen Ende blickt {0} Schritte zurück; es muss eine ganze Zahl ab 1 sein.</translation>
        </message>
        <message>
            <source>A run (.cfoil) whose final weights are scored, or a safetensors file.</source>
            <translation>Ein Lauf (.cfoil), dessen letzte Gewichte bewertet werden, oder eine Safetensors-Datei.</translation>
        </message>
        <message>
            <source>A sample has at least one segment.</source>
            <translation>Eine Stichprobe hat mindestens ein Segment.</translation>
        </message>
        <message>
            <source>A second replay with every reduction in another order gave this machine's result again.</source>
            <translation>Eine zweite Nachrechnung, jede Summe in anderer Reihenfolge, ergab wieder das Ergebnis dieses Rechners.</translation>
        </message>
        <message>
            <source>A second replay, with every sum taken in another order, gave the same result as the first, so this machine's arithmetic does not explain the difference:</source>
            <translation>Eine zweite Nachrechnung, jede Summe in anderer Reihenfolge, ergab dasselbe wie die erste; die Arithmetik dieses Rechners erklärt den Unterschied also nicht:</translation>
        </message>
        <message>
            <source>A shape in the program is not a list of lengths.</source>
            <translation>Eine Form im Programm ist keine Liste von Längen.</translation>
        </message>
        <message>
            <source>A source of the order cannot be called {0}.</source>
            <translation>Eine Quelle des Auftrags kann nicht {0} heißen.</translation>
        </message>
        <message>
            <source>A step of the program takes about {0:,.1f} GiB of memory; the limit is {1:,.0f} GiB.</source>
            <translation>Ein Schritt des Programms braucht etwa {0:,.1f} GiB Speicher; die Grenze ist {1:,.0f} GiB.</translation>
        </message>
        <message>
            <source>A step of the program takes about {0:.2g} floating-point operations; the limit is {1:.2g}.</source>
            <translation>Ein Schritt des Programms braucht etwa {0:.2g} Gleitkommaoperationen; die Grenze ist {1:.2g}.</translation>
        </message>
        <message>
            <source>A step of this order needs at least {0:.1f} GiB of memory; {1} has {2:.1f}.</source>
            <translation>Ein Schritt dieses Auftrags braucht mindestens {0:.1f} GiB Speicher; {1} hat {2:.1f}.</translation>
        </message>
        <message>
            <source>A step of {0} rows cannot be divided into {1} equal shares.</source>
            <translation>Ein Schritt von {0} Zeilen lässt sich nicht in {1} gleiche Anteile teilen.</translation>
        </message>
        <message>
            <source>A step whose state is stored.</source>
            <translation>Ein Schritt, dessen Zustand gespeichert ist.</translation>
        </message>
        <message>
            <source>A sum has {0:,} terms; at most {1:,} can be added exactly.</source>
            <translation>Eine Summe hat {0:,} Terme; höchstens {1:,} lassen sich exakt addieren.</translation>
        </message>
        <message>
            <source>A table: an .npz file with the arrays features (rows x columns) and labels (0 or 1).</source>
            <translation>Eine Tabelle: eine .npz-Datei mit den Feldern features (Zeilen x Spalten) und labels (0 oder 1).</translation>
        </message>
        <message>
            <source>A tensor of dtype {0} has no digest.</source>
            <translation>Ein Tensor vom Typ {0} hat keinen Digest.</translation>
        </message>
        <message>
            <source>A text holds a character that has no UTF-8 form.</source>
            <translation>Ein Text enthält ein Zeichen, das keine UTF-8-Form hat.</translation>
        </message>
        <message>
            <source>A tokenizer.json; the text is UTF-8 then.</source>
            <translation>Eine tokenizer.json; der Text ist dann UTF-8.</translation>
        </message>
        <message>
            <source>A tree head, which the trainer dated {0}, is of another order, {1}.</source>
            <translation>Ein Baumkopf, den der Trainer auf {0} datiert hat, gehört zu einem anderen Auftrag, {1}.</translation>
        </message>
        <message>
            <source>A value of the program has {0} elements; the limit is {1}.</source>
            <translation>Ein Wert des Programms hat {0} Elemente; die Grenze ist {1}.</translation>
        </message>
        <message>
            <source>A value of type {0} has no canonical JSON form.</source>
            <translation>Ein Wert vom Typ {0} hat keine kanonische JSON-Form.</translation>
        </message>
        <message>
            <source>A value that is added or multiplied exactly is infinite or not a number.</source>
            <translation>Ein Wert, der exakt addiert oder multipliziert wird, ist unendlich oder keine Zahl.</translation>
        </message>
        <message>
            <source>A verdict cannot stand in its own place.</source>
            <translation>Ein Urteil kann nicht an seine eigene Stelle treten.</translation>
        </message>
        <message>
            <source>A verdict on one of the runs: each in which a snapshot is found must have one then. Can be given several times.</source>
            <translation>Ein Urteil über einen der Läufe: Dann muss jeder eines haben, in dem eine Momentaufnahme gefunden wird. Kann mehrmals angegeben werden.</translation>
        </message>
        <message>
            <source>A verdict takes the run: audit it when it is made.</source>
            <translation>Ein Urteil braucht den Lauf: Prüfen Sie ihn, wenn er fertig ist.</translation>
        </message>
        <message>
            <source>A verdict that the trainer of its run signs is no audit, and is not handed on as one.</source>
            <translation>Ein Urteil, das der Trainer des Laufs unterschreibt, ist keine Prüfung und wird nicht als eine weitergegeben.</translation>
        </message>
        <message>
            <source>A witness cannot read a tensor of this kind: {0}.</source>
            <translation>Ein Zeuge kann einen Tensor dieser Art nicht lesen: {0}.</translation>
        </message>
        <message>
            <source>A witness takes a snapshot every {0} seconds on average.</source>
            <translation>Ein Zeuge nimmt im Mittel alle {0} Sekunden eine Momentaufnahme auf.</translation>
        </message>
        <message>
            <source>Activation checkpointing: compute activations again in the backward pass instead of keeping them. Less memory, about a third more time, the same training. The number of segments of the forward pass, or auto.</source>
            <translation>Aktivierungen im Rückwärtslauf noch einmal berechnen, statt sie zu behalten. Weniger Speicher, etwa ein Drittel mehr Zeit, dasselbe Training. Die Zahl der Abschnitte des Vorwärtslaufs, oder auto.</translation>
        </message>
        <message>
            <source>Add --order FILE with the client's own order, and --trainer-key FILE with the trainer's key.</source>
            <translation>Dazu --order DATEI mit dem Auftrag des Auftraggebers, und --trainer-key DATEI mit dem Schlüssel des Trainers.</translation>
        </message>
        <message>
            <source>Add the name of your file to see that it is about that.</source>
            <translation>Mit dem Namen der eigenen Datei dahinter sieht man, dass es um sie geht.</translation>
        </message>
        <message>
            <source>Adding them once more in another way gave this machine's result again.</source>
            <translation>Noch einmal auf andere Weise addiert ergab sich wieder das Ergebnis dieser Maschine.</translation>
        </message>
        <message>
            <source>All of them: counterfoil --version --verbose</source>
            <translation>Alle davon: counterfoil --version --verbose</translation>
        </message>
        <message>
            <source>All {0} elements are equal, bit for bit.</source>
            <translation>Alle {0} Elemente sind gleich, Bit für Bit.</translation>
        </message>
        <message>
            <source>All {0} judged steps match.</source>
            <translation>Alle {0} beurteilten Schritte stimmen überein.</translation>
        </message>
        <message>
            <source>All {0} operators are on the allow-list, and each has an exact result.</source>
            <translation>Alle {0} Operatoren stehen auf der Liste der erlaubten, und jeder hat ein exaktes Ergebnis.</translation>
        </message>
        <message>
            <source>All {0} operators are on the allow-list.</source>
            <translation>Alle {0} Operatoren stehen auf der Liste der erlaubten.</translation>
        </message>
        <message>
            <source>All {0} operators are on the allow-list; {1} are rounded.</source>
            <translation>Alle {0} Operatoren stehen auf der Liste der erlaubten; {1} werden gerundet.</translation>
        </message>
        <message>
            <source>All {0} runs agree in every step. If one of their providers is honest and computed by itself, the losses and the committed states of all are what was ordered; nothing was replayed to show that.</source>
            <translation>Alle {0} Läufe stimmen in jedem Schritt überein. Ist einer ihrer Anbieter ehrlich und hat selbst gerechnet, so sind die Verluste und die festgelegten Zustände aller das, was beauftragt war; nachgerechnet wurde dafür nichts.</translation>
        </message>
        <message>
            <source>All {0} steps since the last committed state are needed: too many for a capsule.</source>
            <translation>Alle {0} Schritte seit dem letzten festgelegten Zustand werden gebraucht: zu viele für eine Kapsel.</translation>
        </message>
        <message>
            <source>All {0} steps that were compared are equal.</source>
            <translation>Alle {0} verglichenen Schritte sind gleich.</translation>
        </message>
        <message>
            <source>All {0} steps were replayed, and every one came out exactly as the trainer signed it.</source>
            <translation>Alle {0} Schritte wurden nachgerechnet, und jeder kam genau so heraus, wie der Trainer ihn unterschrieben hat.</translation>
        </message>
        <message>
            <source>Allow it with --neighbours if whoever gets the proof may see these rows.</source>
            <translation>Erlauben Sie es mit --neighbours, wenn der Empfänger diese Zeilen sehen darf.</translation>
        </message>
        <message>
            <source>An X.509 certificate is malformed.</source>
            <translation>Ein X.509-Zertifikat ist fehlerhaft.</translation>
        </message>
        <message>
            <source>An absence has no proof: whoever holds the data can sign that it looked.</source>
            <translation>Ein Fehlen lässt sich nicht beweisen: Wer die Daten hat, kann unterschreiben, dass er gesucht hat.</translation>
        </message>
        <message>
            <source>An argument of the program is nested too deeply.</source>
            <translation>Ein Argument des Programms ist zu tief geschachtelt.</translation>
        </message>
        <message>
            <source>An argument of the program is of an unknown kind.</source>
            <translation>Ein Argument des Programms ist von unbekannter Art.</translation>
        </message>
        <message>
            <source>An array was gone through {0} times at most; {1} are allowed. Counted from the order's schedule.</source>
            <translation>Ein Datenfeld wurde höchstens {0}-mal durchlaufen; erlaubt sind {1}. Gezählt aus dem Ablauf des Auftrags.</translation>
        </message>
        <message>
            <source>An auditor can take a verdict back, and a trainer can reply to one: ask both whether there is more. How far a verdict goes is written in docs/threat-model.md of Counterfoil, and every field of it in docs/verdict.md.</source>
            <translation>Ein Prüfer kann ein Urteil zurücknehmen, und ein Trainer kann darauf antworten: Fragen Sie beide, ob es mehr gibt. Wie weit ein Urteil reicht, steht in docs/threat-model.md von Counterfoil, und jedes seiner Felder in docs/verdict.md.</translation>
        </message>
        <message>
            <source>An element of the verdict's finding has a quantum or a midpoint that cannot be.</source>
            <translation>Ein Element im Befund des Urteils hat ein unmögliches Quantum oder eine unmögliche Mitte.</translation>
        </message>
        <message>
            <source>An element of the verdict's finding has another error than its values have.</source>
            <translation>Ein Element im Befund des Urteils hat einen anderen Fehler als seine Werte.</translation>
        </message>
        <message>
            <source>An element of the verdict's finding has two exact values.</source>
            <translation>Ein Element im Befund des Urteils hat zwei exakte Werte.</translation>
        </message>
        <message>
            <source>An element of the verdict's finding was rounded under an exact profile.</source>
            <translation>Ein Element im Befund des Urteils wurde unter einem exakten Profil gerundet.</translation>
        </message>
        <message>
            <source>An empty passphrase protects nothing.</source>
            <translation>Ein leeres Passwort schützt nichts.</translation>
        </message>
        <message>
            <source>An operator {0} of the program has no proper origin.</source>
            <translation>Ein Operator {0} des Programms hat keine richtige Herkunft.</translation>
        </message>
        <message>
            <source>An order under exact-20 or exact-13 does without float64.</source>
            <translation>Ein Auftrag unter exact-20 oder exact-13 kommt ohne float64 aus.</translation>
        </message>
        <message>
            <source>An order with shares commits to the state after every step: commit_every is 1.</source>
            <translation>Ein Auftrag mit Anteilen legt den Zustand nach jedem Schritt fest: commit_every ist 1.</translation>
        </message>
        <message>
            <source>An order, a .cfoil file.</source>
            <translation>Ein Auftrag, eine .cfoil-Datei.</translation>
        </message>
        <message>
            <source>An unfinished recording of this run lies in {0}.</source>
            <translation>In {0} liegt eine unfertige Aufzeichnung dieses Laufs.</translation>
        </message>
        <message>
            <source>Another process goes on with the recording in {0} right now.</source>
            <translation>Ein anderer Prozess führt die Aufzeichnung in {0} gerade fort.</translation>
        </message>
        <message>
            <source>Another process is going to write {0}.</source>
            <translation>Ein anderer Prozess wird {0} schreiben.</translation>
        </message>
        <message>
            <source>Any file; the model learns its bytes, or its tokens.</source>
            <translation>Irgendeine Datei; das Modell lernt ihre Bytes oder ihre Tokens.</translation>
        </message>
        <message>
            <source>Anyone: check in one pass whether a model gives each token of an answer, and say which it does not.</source>
            <translation>Jeder: in einem Durchgang prüfen, ob ein Modell jedes Token einer Antwort gibt, und sagen, welches nicht.</translation>
        </message>
        <message>
            <source>Anyone: check the log of a witness, find the step of every snapshot, and name those that belong to no run.</source>
            <translation>Jeder: das Protokoll eines Zeugen prüfen, den Schritt jeder Momentaufnahme finden und die nennen, die zu keinem Lauf gehören.</translation>
        </message>
        <message>
            <source>Anyone: check who signed a statement, compare it with what it is about, and show what it says.</source>
            <translation>Jeder: prüfen, wer eine Aussage unterschrieben hat, sie mit dem vergleichen, wovon sie handelt, und zeigen, was sie sagt.</translation>
        </message>
        <message>
            <source>Arguments of the script itself.</source>
            <translation>Argumente des Skripts selbst.</translation>
        </message>
        <message>
            <source>Ask for a capsule about the share that gives it.</source>
            <translation>Fragen Sie nach einer Kapsel über den Anteil, der das ergibt.</translation>
        </message>
        <message>
            <source>Ask for fewer rows.</source>
            <translation>Fragen Sie nach weniger Zeilen.</translation>
        </message>
        <message>
            <source>Ask for fewer workers.</source>
            <translation>Verlangen Sie weniger Helfer.</translation>
        </message>
        <message>
            <source>Ask for fewer, or all.</source>
            <translation>Verlangen Sie weniger oder alle.</translation>
        </message>
        <message>
            <source>Ask for one that counts.</source>
            <translation>Verlangen Sie eines, das zählt.</translation>
        </message>
        <message>
            <source>Ask for one that counts. 'counterfoil verify' shows all that is known of this one.</source>
            <translation>Verlangen Sie eines, das zählt. 'counterfoil verify' zeigt alles, was über dieses bekannt ist.</translation>
        </message>
        <message>
            <source>Ask for safetensors files (save_pretrained writes them), and take it out of the folder.</source>
            <translation>Bitten Sie um safetensors-Dateien (save_pretrained schreibt sie), und nehmen Sie sie aus dem Ordner.</translation>
        </message>
        <message>
            <source>Ask for the file again.</source>
            <translation>Bitten Sie erneut um die Datei.</translation>
        </message>
        <message>
            <source>Ask for the newest list: an old one knows less.</source>
            <translation>Fragen Sie nach der neuesten Liste: Eine alte weiß weniger.</translation>
        </message>
        <message>
            <source>Ask for the weights again, as safetensors files.</source>
            <translation>Bitten Sie erneut um die Gewichte, als safetensors-Dateien.</translation>
        </message>
        <message>
            <source>Ask for the weights as they were trained: base, A and B each by itself.</source>
            <translation>Bitten Sie um die Gewichte, wie sie trainiert wurden: Basis, A und B je für sich.</translation>
        </message>
        <message>
            <source>Ask for the whole file.</source>
            <translation>Bitten Sie um die ganze Datei.</translation>
        </message>
        <message>
            <source>Ask the auditor for one of a file that could be read.</source>
            <translation>Bitten Sie den Prüfer um eines über eine Datei, die gelesen werden konnte.</translation>
        </message>
        <message>
            <source>Ask the auditor for the verdict that stands in its place.</source>
            <translation>Bitten Sie den Prüfer um das Urteil, das an seine Stelle tritt.</translation>
        </message>
        <message>
            <source>Ask the client for an order captured by this version of Counterfoil.</source>
            <translation>Bitten Sie den Auftraggeber um einen Auftrag, den diese Version von Counterfoil erfasst hat.</translation>
        </message>
        <message>
            <source>Ask the client for the data file that was written together with the order.</source>
            <translation>Bitten Sie den Auftraggeber um die Datendatei, die zusammen mit dem Auftrag geschrieben wurde.</translation>
        </message>
        <message>
            <source>Ask the judge for it again.</source>
            <translation>Bitten Sie den Schiedsrichter noch einmal darum.</translation>
        </message>
        <message>
            <source>Ask the trainer for a run of the order that the client signed.</source>
            <translation>Bitten Sie den Trainer um einen Lauf des Auftrags, den der Auftraggeber unterschrieben hat.</translation>
        </message>
        <message>
            <source>Ask the trainer for a run of the order that the client signed. If the client never signed it, compare it with the client's own order file, without a key.</source>
            <translation>Bitten Sie den Trainer um einen Lauf des Auftrags, den der Auftraggeber unterschrieben hat. Hat der Auftraggeber ihn nie unterschrieben, so vergleichen Sie mit der eigenen Auftragsdatei des Auftraggebers, ohne Schlüssel.</translation>
        </message>
        <message>
            <source>Ask the trainer for a run of this order.</source>
            <translation>Bitten Sie den Trainer um einen Lauf dieses Auftrags.</translation>
        </message>
        <message>
            <source>Ask the trainer for a run that Counterfoil recorded.</source>
            <translation>Bitten Sie den Trainer um einen Lauf, den Counterfoil aufgezeichnet hat.</translation>
        </message>
        <message>
            <source>Ask the trainer for the file again.</source>
            <translation>Bitten Sie den Trainer noch einmal um die Datei.</translation>
        </message>
        <message>
            <source>Ask the trainer for the run as it was signed, and the parties what they signed.</source>
            <translation>Bitten Sie den Trainer um den Lauf, wie er unterschrieben wurde, und fragen Sie die Parteien, was sie unterschrieben haben.</translation>
        </message>
        <message>
            <source>Ask the trainer for the run whose history it published.</source>
            <translation>Bitten Sie den Trainer um den Lauf, dessen Verlauf er veröffentlicht hat.</translation>
        </message>
        <message>
            <source>Ask the trainer what became of it.</source>
            <translation>Fragen Sie den Trainer, was daraus geworden ist.</translation>
        </message>
        <message>
            <source>At step {0} the exponents by which the trainer added the shares are not those of the largest numbers in what it signed as theirs (in {1}). They are defined by these numbers, the same on every machine.</source>
            <translation>In Schritt {0} sind die Exponenten, mit denen der Trainer die Anteile addiert hat, nicht die der größten Zahlen in dem, was er als ihres unterschrieben hat (in {1}). Sie sind durch diese Zahlen definiert, auf jeder Maschine dieselben.</translation>
        </message>
        <message>
            <source>At step {0} the sum of what the trainer signed as the shares' is beyond float32's range (in {1}): then a step has no result on any machine, so nobody can have recorded one.</source>
            <translation>In Schritt {0} liegt die Summe dessen, was der Trainer als das der Anteile unterschrieben hat, außerhalb des Bereichs von float32 (in {1}): Dann hat ein Schritt auf keiner Maschine ein Ergebnis, also kann niemand eines aufgezeichnet haben.</translation>
        </message>
        <message>
            <source>At step {0} what the trainer signed as the combination of the {1} shares is not the sum of what it signed as theirs (in {2}). It is a sum of integers, the same on every machine and in any order.</source>
            <translation>In Schritt {0} ist, was der Trainer als Zusammenführung der {1} Anteile unterschrieben hat, nicht die Summe dessen, was er als ihres unterschrieben hat (in {2}). Sie ist eine Summe ganzer Zahlen, auf jeder Maschine und in jeder Reihenfolge dieselbe.</translation>
        </message>
        <message>
            <source>At the operator {0} and later {1} element{2} were rounded to the other side of a midpoint than here, which conforming hardware may do; but the trainer left that out of its log, in which a conforming recorder writes down every such decision. With these values the step comes out as the trainer signed it. For a single step nobody is accused.</source>
            <translation>Beim Operator {0} und danach wurde zur anderen Seite einer Mitte gerundet als hier (Anzahl der Elemente: {1}), was normgerechte Hardware darf; aber der Trainer ließ das in seinem Protokoll aus, in dem eine normgerechte Aufzeichnung jede solche Entscheidung festhält. Mit diesen Werten kommt der Schritt so heraus, wie der Trainer ihn unterschrieben hat. Für einen einzelnen Schritt wird niemandem etwas vorgeworfen.</translation>
        </message>
        <message>
            <source>At the operator {0} the trainer's log says that a value was rounded one way, and its fingerprint that it was rounded the other way: what it signed contradicts itself.</source>
            <translation>Beim Operator {0} sagt das Protokoll des Trainers, ein Wert sei in die eine Richtung gerundet, und sein Fingerabdruck, er sei in die andere gerundet: Was er unterschrieben hat, widerspricht sich.</translation>
        </message>
        <message>
            <source>At the operator {0}, whose inputs agree with what the trainer signed, the scale of what is added is {1:.3g}. From 2^128 on a step has no result on any conforming machine, and scales of two of them differ by 2^-10 of themselves at most; so nobody can have recorded one.</source>
            <translation>Beim Operator {0}, dessen Eingaben mit dem übereinstimmen, was der Trainer unterschrieben hat, ist die Größenordnung des Addierten {1:.3g}. Ab 2^128 hat ein Schritt auf keiner normgerechten Maschine ein Ergebnis, und die Größenordnungen zweier von ihnen unterscheiden sich höchstens um 2^-10 ihrer selbst; es kann also niemand eines aufgezeichnet haben.</translation>
        </message>
        <message>
            <source>At the operator {0}, whose inputs agree, the trainer's fingerprint belongs to other values, and does not tell to which. {1} elements lie so close to a midpoint between two grid points that conforming hardware may round them to either side, and the calibrated margin is too small for all of them to be in the log. Nobody is accused; order the job with proven margins.</source>
            <translation>Beim Operator {0}, dessen Eingaben übereinstimmen, gehört der Fingerabdruck des Trainers zu anderen Werten und verrät nicht, zu welchen. {1} Elemente liegen so nahe an einer Mitte zwischen zwei Rasterpunkten, dass normgerechte Hardware sie nach beiden Seiten runden darf, und die kalibrierte Toleranz ist zu klein, als dass sie alle im Protokoll stünden. Niemandem wird etwas vorgeworfen; bestellen Sie mit bewiesenen Toleranzen.</translation>
        </message>
        <message>
            <source>At the operator {0}, whose inputs agree, the trainer's fingerprint shows {1} other value{2} than the exact one{3}, which no conforming hardware gives.</source>
            <translation>Beim Operator {0}, dessen Eingaben übereinstimmen, zeigt der Fingerabdruck des Trainers andere Werte als die exakten (Anzahl: {1}), die keine normgerechte Hardware liefert.</translation>
        </message>
        <message>
            <source>At the operator {0}, whose inputs agree, the trainer's log gives a scale that no hardware computes from these inputs, and its fingerprint belongs to other values.</source>
            <translation>Beim Operator {0}, dessen Eingaben übereinstimmen, nennt das Protokoll des Trainers eine Größenordnung, die keine Hardware aus diesen Eingaben errechnet, und sein Fingerabdruck gehört zu anderen Werten.</translation>
        </message>
        <message>
            <source>At the operator {0}, whose inputs agree, {1} {2} elements were recomputed exactly, and this machine's values are right, to {3:.2g} of the error bound. The trainer's fingerprint belongs to other values, and no rounding on conforming hardware explains it.</source>
            <translation>Beim Operator {0}, dessen Eingaben übereinstimmen, wurden {1} Elemente exakt nachgerechnet, und die Werte dieses Rechners sind richtig, auf {3:.2g} der Fehlerschranke. Der Fingerabdruck des Trainers gehört zu anderen Werten, und keine Rundung auf normgerechter Hardware erklärt das.</translation>
        </message>
        <message>
            <source>At {0} operators of this step the trainer's fingerprints show values that were rounded to the other side of a midpoint, and its log leaves these decisions out, which no conforming recorder does.</source>
            <translation>Bei {0} Operatoren dieses Schritts zeigen die Fingerabdrücke des Trainers Werte, die zur anderen Seite einer Mitte gerundet wurden, und sein Protokoll lässt diese Entscheidungen aus, was keine normgerechte Aufzeichnung tut.</translation>
        </message>
        <message>
            <source>Attention heads.</source>
            <translation>Attention-Köpfe.</translation>
        </message>
        <message>
            <source>Audit a copy of the file that nobody else can write to.</source>
            <translation>Prüfen Sie eine Kopie der Datei, in die sonst niemand schreiben kann.</translation>
        </message>
        <message>
            <source>Audit it without imitated hardware.</source>
            <translation>Prüfen Sie ihn auf der Hardware, die da ist.</translation>
        </message>
        <message>
            <source>Audit the run again without workers, and look what is wrong with that machine.</source>
            <translation>Prüfen Sie den Lauf noch einmal ohne Helfer, und sehen Sie nach, was mit jenem Rechner nicht stimmt.</translation>
        </message>
        <message>
            <source>Audit without the facts, and look at them by themselves.</source>
            <translation>Prüfen Sie ohne die Angaben, und sehen Sie sich diese für sich an.</translation>
        </message>
        <message>
            <source>Auditor: give a verdict on a run that was replayed in parts on your own machines.</source>
            <translation>Prüfer: ein Urteil über einen Lauf geben, der in Teilen auf eigenen Rechnern nachgerechnet wurde.</translation>
        </message>
        <message>
            <source>Auditor: take back a verdict, for good or for another one.</source>
            <translation>Prüfer: ein Urteil zurücknehmen, endgültig oder zugunsten eines anderen.</translation>
        </message>
        <message>
            <source>Begin another log.</source>
            <translation>Beginnen Sie ein anderes Protokoll.</translation>
        </message>
        <message>
            <source>Box around a replay</source>
            <translation>Kasten um eine Nachrechnung</translation>
        </message>
        <message>
            <source>By the fingerprints that the trainer signed, the {0} of step {1} are not the ordered ones.</source>
            <translation>Nach den Fingerabdrücken, die der Trainer unterschrieben hat, sind die {0} von Schritt {1} nicht die bestellten.</translation>
        </message>
        <message>
            <source>By their losses the order's rule ends the run there: it has {0} of {1} ordered steps.</source>
            <translation>Nach ihren Verlusten beendet die Regel des Auftrags den Lauf dort: Er hat {0} von {1} bestellten Schritten.</translation>
        </message>
        <message>
            <source>By their losses the order's rule to stop early does not fire before the last step.</source>
            <translation>Nach ihren Verlusten greift die Regel des Auftrags zum vorzeitigen Ende nicht vor dem letzten Schritt.</translation>
        </message>
        <message>
            <source>By what the trainer signed, its gradients at step {0} are not those of the ordered step.</source>
            <translation>Nach dem, was der Trainer unterschrieben hat, sind seine Gradienten in Schritt {0} nicht die des bestellten Schritts.</translation>
        </message>
        <message>
            <source>By what the trainer signed, its model computed something else at step {0} than was ordered.</source>
            <translation>Nach dem, was der Trainer unterschrieben hat, hat sein Modell in Schritt {0} etwas anderes berechnet als bestellt.</translation>
        </message>
        <message>
            <source>By what the trainer signed, its update of the weights at step {0} is not the ordered one.</source>
            <translation>Nach dem, was der Trainer unterschrieben hat, ist seine Änderung der Gewichte in Schritt {0} nicht die bestellte.</translation>
        </message>
        <message>
            <source>Bytes or tokens of one training sequence, at most --context.</source>
            <translation>Bytes oder Tokens einer Trainingsfolge, höchstens --context.</translation>
        </message>
        <message>
            <source>Bytes or tokens that the model can see at once.</source>
            <translation>Bytes oder Tokens, die das Modell auf einmal sehen kann.</translation>
        </message>
        <message>
            <source>CHANGED</source>
            <translation>GEÄNDERT</translation>
        </message>
        <message>
            <source>Cache of this user</source>
            <translation>Cache dieses Benutzers</translation>
        </message>
        <message>
            <source>Certificate {0} of the chain does not count: {1}.</source>
            <translation>Zertifikat {0} der Kette zählt nicht: {1}.</translation>
        </message>
        <message>
            <source>Certificate {0} of the chain is valid from {1} to {2}, and not at {3}.</source>
            <translation>Zertifikat {0} der Kette gilt von {1} bis {2}, und nicht zur Zeit {3}.</translation>
        </message>
        <message>
            <source>Certificate {0} of the chain was not issued by certificate {1}.</source>
            <translation>Zertifikat {0} der Kette wurde nicht von Zertifikat {1} ausgestellt.</translation>
        </message>
        <message>
            <source>Channels of the first block.</source>
            <translation>Kanäle des ersten Blocks.</translation>
        </message>
        <message>
            <source>Check it with Counterfoil</source>
            <translation>Mit Counterfoil prüfen</translation>
        </message>
        <message>
            <source>Check it with OpenSSL alone</source>
            <translation>Mit OpenSSL allein prüfen</translation>
        </message>
        <message>
            <source>Check that it is there, and that you have permission to read it.</source>
            <translation>Prüfen Sie, ob sie da ist und ob Sie sie lesen dürfen.</translation>
        </message>
        <message>
            <source>Check that the module {0} is that of the hardware, and that it is plugged in.</source>
            <translation>Prüfen Sie, ob das Modul {0} zur Hardware gehört und ob sie eingesteckt ist.</translation>
        </message>
        <message>
            <source>Check that you have permission to read it.</source>
            <translation>Prüfen Sie, ob Sie sie lesen dürfen.</translation>
        </message>
        <message>
            <source>Check the disk or the network share, or copy the file to another disk, and start again.</source>
            <translation>Prüfen Sie den Datenträger oder die Netzwerkfreigabe, oder kopieren Sie die Datei auf einen anderen Datenträger, und beginnen Sie von vorn.</translation>
        </message>
        <message>
            <source>Check the signature; OpenSSL says 'Signature Verified Successfully':</source>
            <translation>Die Unterschrift prüfen; OpenSSL sagt 'Signature Verified Successfully':</translation>
        </message>
        <message>
            <source>Checking the data file: {0} %.</source>
            <translation>Die Datendatei wird geprüft: {0} %.</translation>
        </message>
        <message>
            <source>Choose a count or a confidence too.</source>
            <translation>Wählen Sie auch eine Anzahl oder eine Sicherheit.</translation>
        </message>
        <message>
            <source>Choose a run of it.</source>
            <translation>Wählen Sie einen Lauf davon.</translation>
        </message>
        <message>
            <source>Choose a shorter name.</source>
            <translation>Wählen Sie einen kürzeren Namen.</translation>
        </message>
        <message>
            <source>Choose among these.</source>
            <translation>Wählen Sie unter diesen.</translation>
        </message>
        <message>
            <source>Choose another folder, or another name.</source>
            <translation>Wählen Sie einen anderen Ordner oder einen anderen Namen.</translation>
        </message>
        <message>
            <source>Choose another folder.</source>
            <translation>Wählen Sie einen anderen Ordner.</translation>
        </message>
        <message>
            <source>Choose another name, or agree that it is replaced.</source>
            <translation>Wählen Sie einen anderen Namen, oder stimmen Sie dem Ersetzen zu.</translation>
        </message>
        <message>
            <source>Choose another name.</source>
            <translation>Wählen Sie einen anderen Namen.</translation>
        </message>
        <message>
            <source>Choose another one.</source>
            <translation>Wählen Sie einen anderen.</translation>
        </message>
        <message>
            <source>Choose another place.</source>
            <translation>Wählen Sie einen anderen Ort.</translation>
        </message>
        <message>
            <source>Choose numbers as in 1,4,7-9, or a count, or all.</source>
            <translation>Wählen Sie Nummern wie 1,4,7-9, eine Anzahl oder alle.</translation>
        </message>
        <message>
            <source>Choose one such as 0.01.</source>
            <translation>Wählen Sie etwa 0.01.</translation>
        </message>
        <message>
            <source>Choose one such as 0.99.</source>
            <translation>Wählen Sie etwa 0.99.</translation>
        </message>
        <message>
            <source>Choose the order file that the client wrote and kept.</source>
            <translation>Wählen Sie die Auftragsdatei, die der Auftraggeber geschrieben und aufbewahrt hat.</translation>
        </message>
        <message>
            <source>Chunk {0} of tensor {1} has the wrong length.</source>
            <translation>Das Stück {0} des Tensors {1} hat die falsche Länge.</translation>
        </message>
        <message>
            <source>Client: measure how far other hardware would differ on an order, and set its margins by that.</source>
            <translation>Auftraggeber: messen, wie weit andere Hardware bei einem Auftrag abwiche, und seine Toleranzen danach setzen.</translation>
        </message>
        <message>
            <source>Client: sign an order, so that a run of it shows who ordered it.</source>
            <translation>Auftraggeber: einen Auftrag unterschreiben, damit ein Lauf davon zeigt, wer ihn erteilt hat.</translation>
        </message>
        <message>
            <source>Close other programs, and try again.</source>
            <translation>Schließen Sie andere Programme, und versuchen Sie es noch einmal.</translation>
        </message>
        <message>
            <source>Close other programs, use fewer threads or another device, or take a machine with more memory.</source>
            <translation>Schließen Sie andere Programme, nehmen Sie weniger Threads oder ein anderes Gerät, oder einen Rechner mit mehr Speicher.</translation>
        </message>
        <message>
            <source>Columns of the table that is made up.</source>
            <translation>Spalten der erfundenen Tabelle.</translation>
        </message>
        <message>
            <source>Commit to each row of the data by itself, so that a dispute shows its judge the rows of its step and no others. The order digest is another each time.</source>
            <translation>Jede Zeile der Daten einzeln festlegen, damit ein Streitfall dem Richter nur die Zeilen seines Schritts zeigt. Der Digest des Auftrags ist jedes Mal ein anderer.</translation>
        </message>
        <message>
            <source>Compared with the script in all {0:,} steps</source>
            <translation>Mit dem Skript verglichen in allen {0:,} Schritten</translation>
        </message>
        <message>
            <source>Compared with the script in its only step</source>
            <translation>Mit dem Skript verglichen im einzigen Schritt</translation>
        </message>
        <message>
            <source>Compared with the script in step {0} of {1:,}</source>
            <translation>Mit dem Skript verglichen in Schritt {0} von {1:,}</translation>
        </message>
        <message>
            <source>Compared with the script in steps {0} of {1:,}</source>
            <translation>Mit dem Skript verglichen in den Schritten {0} von {1:,}</translation>
        </message>
        <message>
            <source>Compared with the script in {0:,} of {1:,} steps, first in {2}</source>
            <translation>Mit dem Skript verglichen in {0:,} von {1:,} Schritten, zuerst in {2}</translation>
        </message>
        <message>
            <source>Comparing</source>
            <translation>Wird verglichen</translation>
        </message>
        <message>
            <source>Comparing program, schedule and data with the order digest</source>
            <translation>Programm, Ablauf und Daten werden mit dem Auftrags-Hash verglichen</translation>
        </message>
        <message>
            <source>Comparing the recorded steps with the signed run root</source>
            <translation>Die aufgezeichneten Schritte werden mit der unterschriebenen Laufwurzel verglichen</translation>
        </message>
        <message>
            <source>Comparing {0}</source>
            <translation>{0} wird verglichen</translation>
        </message>
        <message>
            <source>Compiled kernels</source>
            <translation>Übersetzte Kernel</translation>
        </message>
        <message>
            <source>Computing</source>
            <translation>Rechnen</translation>
        </message>
        <message>
            <source>Copy it there, and open it by its path there; or start the window without --engine.</source>
            <translation>Kopieren Sie die Datei dorthin und öffnen Sie sie unter ihrem Pfad dort; oder starten Sie das Fenster ohne --engine.</translation>
        </message>
        <message>
            <source>Copy the file to a place where nobody else writes to it, and start again with the copy.</source>
            <translation>Kopieren Sie die Datei an einen Ort, an dem niemand sonst sie verändert, und beginnen Sie mit der Kopie von vorn.</translation>
        </message>
        <message>
            <source>Counterfoil itself failed: {0}.</source>
            <translation>Counterfoil selbst ist gescheitert: {0}.</translation>
        </message>
        <message>
            <source>Counting</source>
            <translation>Wird gezählt</translation>
        </message>
        <message>
            <source>Data root</source>
            <translation>Wurzel der Daten</translation>
        </message>
        <message>
            <source>Deliver each tensor once: take files of another saving out of the folder.</source>
            <translation>Liefern Sie jeden Tensor einmal: Nehmen Sie Dateien eines anderen Speicherns aus dem Ordner.</translation>
        </message>
        <message>
            <source>Devices of AMD (ROCm) are not supported.</source>
            <translation>Geräte von AMD (ROCm) werden nicht unterstützt.</translation>
        </message>
        <message>
            <source>Digest the state every so many steps.</source>
            <translation>Den Digest des Zustands alle so viele Schritte bilden.</translation>
        </message>
        <message>
            <source>Directions look chosen in {0}.</source>
            <translation>Richtungen sehen gewählt aus in {0}.</translation>
        </message>
        <message>
            <source>Display</source>
            <translation>Anzeige</translation>
        </message>
        <message>
            <source>Disputed runs: {0}. Clean ones count as {1} that were replayed whole. The next is bad with probability {2}.</source>
            <translation>Strittige Läufe: {0}. Die sauberen zählen wie {1} ganz nachgerechnete. Der nächste ist mit Wahrscheinlichkeit {2} schlecht.</translation>
        </message>
        <message>
            <source>Divide each batch into so many shares, so that several devices can train it. Their gradients are combined exactly: the run is the same on any number of devices.</source>
            <translation>Jeden Batch in so viele Anteile teilen, damit mehrere Geräte ihn trainieren können. Ihre Gradienten werden exakt zusammengefasst: Der Lauf ist auf jeder Zahl von Geräten derselbe.</translation>
        </message>
        <message>
            <source>Do not sign with it: somebody exchanged it. Write the right one, or make a new pair of keys.</source>
            <translation>Unterschreiben Sie nicht damit: jemand hat ihn ausgetauscht. Schreiben Sie den richtigen, oder erzeugen Sie ein neues Schlüsselpaar.</translation>
        </message>
        <message>
            <source>Do not use its results: the file that was audited may have taken it over.</source>
            <translation>Verwenden Sie seine Ergebnisse nicht: Die geprüfte Datei könnte ihn übernommen haben.</translation>
        </message>
        <message>
            <source>Download it, and give the path of the copy.</source>
            <translation>Laden Sie ihn herunter, und geben Sie den Pfad der Kopie an.</translation>
        </message>
        <message>
            <source>Drop the auditor's public key on the window, and confirm it.</source>
            <translation>Legen Sie den öffentlichen Schlüssel des Prüfers auf dem Fenster ab und bestätigen Sie ihn.</translation>
        </message>
        <message>
            <source>Dropout probability.</source>
            <translation>Wahrscheinlichkeit des Dropouts.</translation>
        </message>
        <message>
            <source>Earlier steps that differ: {0}.</source>
            <translation>Frühere Schritte, die abweichen: {0}.</translation>
        </message>
        <message>
            <source>End the run before its last step if the loss has not fallen in N steps. Where it ends follows from the recorded losses, and the audit checks it.</source>
            <translation>Den Lauf vor seinem letzten Schritt beenden, wenn der Verlust in N Schritten nicht gefallen ist. Wo er endet, folgt aus den aufgezeichneten Verlusten, und die Prüfung rechnet es nach.</translation>
        </message>
        <message>
            <source>Every fingerprint that the trainer signed for this step agrees with the replay, and what follows the last of them is arithmetic that is exact on all hardware: the result that it signed does not follow from what it signed on the way.</source>
            <translation>Jeder Fingerabdruck, den der Trainer für diesen Schritt unterschrieben hat, stimmt mit der Nachrechnung überein, und was auf den letzten folgt, ist Arithmetik, die auf jeder Hardware exakt ist: Das unterschriebene Ergebnis folgt nicht aus dem, was er unterwegs unterschrieben hat.</translation>
        </message>
        <message>
            <source>Every index is checked, which takes longer. Unset it unless you look for a fault.</source>
            <translation>Jeder Index wird geprüft, was länger dauert. Entfernen Sie die Variable, wenn Sie keinen Fehler suchen.</translation>
        </message>
        <message>
            <source>Every operator of the program is supported</source>
            <translation>Jeder Operator des Programms wird unterstützt</translation>
        </message>
        <message>
            <source>Every replayed step has the trainer's Merkle leaf</source>
            <translation>Jeder nachgerechnete Schritt hat das Merkle-Blatt des Trainers</translation>
        </message>
        <message>
            <source>Every replayed step matches, but the rounding log has {0} contradictions and {1} omissions, which an honest run on sound hardware does not have: either the log was altered, or this machine's arithmetic lies outside the margin.</source>
            <translation>Jeder nachgerechnete Schritt stimmt überein, aber das Rundungsprotokoll hat {0} Widersprüche und {1} Auslassungen, die ein ehrlicher Lauf auf einwandfreier Hardware nicht hat: Entweder wurde das Protokoll verändert, oder die Arithmetik dieses Rechners liegt außerhalb der Toleranz.</translation>
        </message>
        <message>
            <source>Every replayed step matches, but {0} of {1} logged directions that hardware does not flip differ from this machine's own rounding, more than chance explains in {2}: the trainer seems to have chosen them at will.</source>
            <translation>Jeder nachgerechnete Schritt stimmt überein, aber {0} von {1} protokollierten Richtungen, die Hardware nicht umkehrt, weichen von der eigenen Rundung dieses Rechners ab, mehr als der Zufall erklärt in {2}: Der Trainer scheint sie nach Belieben gewählt zu haben.</translation>
        </message>
        <message>
            <source>Every rule of the format is kept.</source>
            <translation>Jede Regel des Formats ist eingehalten.</translation>
        </message>
        <message>
            <source>Every step was replayed</source>
            <translation>Jeder Schritt wurde nachgerechnet</translation>
        </message>
        <message>
            <source>Every value was read as {0}.</source>
            <translation>Jeder Wert wurde als {0} gelesen.</translation>
        </message>
        <message>
            <source>Every value x was read as x + {0}, modulo {1}.</source>
            <translation>Jeder Wert x wurde als x + {0} modulo {1} gelesen.</translation>
        </message>
        <message>
            <source>Every value x was read as {0} - x.</source>
            <translation>Jeder Wert x wurde als {0} - x gelesen.</translation>
        </message>
        <message>
            <source>Everything after follows from it: the model of this run is not the one that was ordered.</source>
            <translation>Alles danach folgt daraus: Das Modell dieses Laufs ist nicht das bestellte.</translation>
        </message>
        <message>
            <source>Exact operands of {0} bits are not supported; {1} to {2} are.</source>
            <translation>Exakte Operanden von {0} Bit werden nicht unterstützt; {1} bis {2} schon.</translation>
        </message>
        <message>
            <source>Exact products, {0} bits</source>
            <translation>Exakte Produkte, {0} Bit</translation>
        </message>
        <message>
            <source>Execute the first step here, on the CPU, before the order is written, so that it does not fail at the trainer. --no-trial for jobs that only a larger machine can execute.</source>
            <translation>Den ersten Schritt hier auf der CPU ausführen, bevor der Auftrag geschrieben wird, damit er nicht erst beim Trainer scheitert. --no-trial für Aufgaben, die nur ein größerer Rechner ausführen kann.</translation>
        </message>
        <message>
            <source>File that was judged: {0}</source>
            <translation>Geprüfte Datei: {0}</translation>
        </message>
        <message>
            <source>Files</source>
            <translation>Dateien</translation>
        </message>
        <message>
            <source>Find out which of the two is the client's, and give that.</source>
            <translation>Finden Sie heraus, welcher von beiden der des Auftraggebers ist, und geben Sie diesen an.</translation>
        </message>
        <message>
            <source>Finished steps are computed again.</source>
            <translation>Fertige Schritte werden noch einmal berechnet.</translation>
        </message>
        <message>
            <source>Folder of the images: CIFAR-10, binary version (data_batch_1.bin, ...), or the IDX files of MNIST or Fashion-MNIST (train-images-idx3-ubyte, ..., also as .gz).</source>
            <translation>Ordner der Bilder: CIFAR-10 in der binären Fassung (data_batch_1.bin, ...), oder die IDX-Dateien von MNIST oder Fashion-MNIST (train-images-idx3-ubyte, ..., auch als .gz).</translation>
        </message>
        <message>
            <source>Folders</source>
            <translation>Ordner</translation>
        </message>
        <message>
            <source>Follow it again when the trainer goes on with it.</source>
            <translation>Verfolgen Sie sie erneut, wenn der Trainer sie fortsetzt.</translation>
        </message>
        <message>
            <source>Forms in use</source>
            <translation>Verwendete Formen</translation>
        </message>
        <message>
            <source>From step {0} to step {1} the ordered training moves this tensor by {2:.3g} (Euclidean norm). The trainer's lies {3:.3g} from there: {4:.3g} % of that way.</source>
            <translation>Von Schritt {0} bis Schritt {1} bewegt das beauftragte Training diesen Tensor um {2:.3g} (euklidische Norm). Der des Trainers liegt {3:.3g} davon entfernt: {4:.3g} % dieses Wegs.</translation>
        </message>
        <message>
            <source>From when on, such as 2026-01-31T12:00:00Z.</source>
            <translation>Ab wann, etwa 2026-01-31T12:00:00Z.</translation>
        </message>
        <message>
            <source>Gave up after {0:.0f} seconds of waiting for {1}.</source>
            <translation>Nach {0:.0f} Sekunden Warten aufgegeben: {1}.</translation>
        </message>
        <message>
            <source>Give 1 or more.</source>
            <translation>Geben Sie 1 oder mehr an.</translation>
        </message>
        <message>
            <source>Give a folder that holds signed verdicts, and that you may read.</source>
            <translation>Geben Sie einen Ordner mit unterschriebenen Urteilen an, den Sie lesen dürfen.</translation>
        </message>
        <message>
            <source>Give a folder with verdicts alone.</source>
            <translation>Geben Sie einen Ordner an, der nur Urteile enthält.</translation>
        </message>
        <message>
            <source>Give a number from 1 to {0}.</source>
            <translation>Geben Sie eine Zahl von 1 bis {0} an.</translation>
        </message>
        <message>
            <source>Give a passphrase, or none at all.</source>
            <translation>Geben Sie ein Passwort an oder gar keines.</translation>
        </message>
        <message>
            <source>Give a round as the beacon publishes it: a JSON object with round and signature.</source>
            <translation>Geben Sie eine Runde an, wie das öffentliche Signal sie veröffentlicht: ein JSON-Objekt mit round und signature.</translation>
        </message>
        <message>
            <source>Give a round that was published after you received the run.</source>
            <translation>Geben Sie eine Runde an, die veröffentlicht wurde, nachdem Sie den Lauf erhielten.</translation>
        </message>
        <message>
            <source>Give as --prefix what the names of the files lack.</source>
            <translation>Geben Sie mit --prefix an, was den Namen in den Dateien fehlt.</translation>
        </message>
        <message>
            <source>Give decimal digits, such as 1250.5.</source>
            <translation>Geben Sie Dezimalziffern an, zum Beispiel 1250.5.</translation>
        </message>
        <message>
            <source>Give it another name: nothing is put among other files.</source>
            <translation>Geben Sie ihm einen anderen Namen: Nichts wird zwischen andere Dateien gelegt.</translation>
        </message>
        <message>
            <source>Give it as a passphrase is given.</source>
            <translation>Geben Sie sie, wie ein Passwort gegeben wird.</translation>
        </message>
        <message>
            <source>Give it the trainer's key.</source>
            <translation>Geben Sie ihm den Schlüssel des Trainers.</translation>
        </message>
        <message>
            <source>Give it through a file descriptor, whose number is in the environment variable {0}, or in the environment variable {1}.</source>
            <translation>Geben Sie es durch einen Dateideskriptor, dessen Nummer in der Umgebungsvariablen {0} steht, oder in der Umgebungsvariablen {1}.</translation>
        </message>
        <message>
            <source>Give it to 'counterfoil adjudicate'.</source>
            <translation>Geben Sie sie 'counterfoil adjudicate'.</translation>
        </message>
        <message>
            <source>Give it with --data FILE, or choose it in the window. The client wrote it together with the order.</source>
            <translation>Geben Sie sie mit --data FILE an, oder wählen Sie sie im Fenster. Der Auftraggeber hat sie zusammen mit dem Auftrag geschrieben.</translation>
        </message>
        <message>
            <source>Give it.</source>
            <translation>Geben Sie es an.</translation>
        </message>
        <message>
            <source>Give one whose parts begin with -----BEGIN CERTIFICATE-----.</source>
            <translation>Geben Sie eine an, deren Teile mit -----BEGIN CERTIFICATE----- beginnen.</translation>
        </message>
        <message>
            <source>Give the capsule that the same audit wrote.</source>
            <translation>Geben Sie die Kapsel an, die dieselbe Prüfung geschrieben hat.</translation>
        </message>
        <message>
            <source>Give the client's order file as well, with --order, or take it where a run is asked for.</source>
            <translation>Geben Sie auch die Auftragsdatei des Auftraggebers mit --order an, oder nehmen Sie sie anstelle des Laufs.</translation>
        </message>
        <message>
            <source>Give the client's order file, with --order, or choose it in the window.</source>
            <translation>Geben Sie die Auftragsdatei des Auftraggebers mit --order an, oder wählen Sie sie im Fenster.</translation>
        </message>
        <message>
            <source>Give the file that 'counterfoil keygen --sealing' or age-keygen wrote.</source>
            <translation>Nennen Sie die Datei, die 'counterfoil keygen --sealing' oder age-keygen geschrieben hat.</translation>
        </message>
        <message>
            <source>Give the folder of a recording that goes on, .NAME.recording beside its run.</source>
            <translation>Geben Sie den Ordner einer laufenden Aufzeichnung an, .NAME.recording neben ihrem Lauf.</translation>
        </message>
        <message>
            <source>Give the folder of a recording, .NAME.recording beside its run NAME.</source>
            <translation>Geben Sie den Ordner einer Aufzeichnung an, .NAME.recording neben ihrem Lauf NAME.</translation>
        </message>
        <message>
            <source>Give the folder, or the file, that the model's weights were delivered in.</source>
            <translation>Geben Sie den Ordner oder die Datei an, worin die Gewichte des Modells geliefert wurden.</translation>
        </message>
        <message>
            <source>Give the key an id without a leading zero.</source>
            <translation>Geben Sie dem Schlüssel eine Nummer ohne führende Null.</translation>
        </message>
        <message>
            <source>Give the key that it was begun with, or discard it: --fresh.</source>
            <translation>Geben Sie den Schlüssel an, mit dem sie begonnen wurde, oder verwerfen Sie sie: --fresh.</translation>
        </message>
        <message>
            <source>Give the least and the most: [0, 1e25].</source>
            <translation>Geben Sie den kleinsten und den größten Wert an: [0, 1e25].</translation>
        </message>
        <message>
            <source>Give the log another name: no witness adds to the log of another one.</source>
            <translation>Geben Sie dem Protokoll einen anderen Namen: Kein Zeuge setzt das Protokoll eines anderen fort.</translation>
        </message>
        <message>
            <source>Give the name of a file.</source>
            <translation>Geben Sie den Namen einer Datei an.</translation>
        </message>
        <message>
            <source>Give the name of a key file; 'counterfoil keygen' makes one.</source>
            <translation>Geben Sie den Namen einer Schlüsseldatei an; 'counterfoil keygen' erzeugt eine.</translation>
        </message>
        <message>
            <source>Give the name of the right file.</source>
            <translation>Geben Sie die gemeinte Datei an.</translation>
        </message>
        <message>
            <source>Give the order file that it was begun with, or discard the recording: --fresh.</source>
            <translation>Geben Sie die Auftragsdatei an, mit der sie begonnen wurde, oder verwerfen Sie die Aufzeichnung: --fresh.</translation>
        </message>
        <message>
            <source>Give the order that it was begun with, or discard it: --fresh.</source>
            <translation>Geben Sie den Auftrag an, mit dem sie begonnen wurde, oder verwerfen Sie sie: --fresh.</translation>
        </message>
        <message>
            <source>Give the order {0}, or only the client's key. If the trainer accepted the order {1} too, ask for the run of that one.</source>
            <translation>Geben Sie den Auftrag {0} an oder nur den Schlüssel des Auftraggebers. Hat der Trainer auch den Auftrag {1} angenommen, so bitten Sie um dessen Lauf.</translation>
        </message>
        <message>
            <source>Give the private key of a judge for whom it was sealed, or have it sealed for this one.</source>
            <translation>Nennen Sie den privaten Schlüssel eines Schiedsrichters, für den sie versiegelt wurde, oder lassen Sie sie für diesen versiegeln.</translation>
        </message>
        <message>
            <source>Give the public one, {0}, and keep this one secret.</source>
            <translation>Nennen Sie den öffentlichen, {0}, und halten Sie diesen geheim.</translation>
        </message>
        <message>
            <source>Give the run that a trainer recorded.</source>
            <translation>Geben Sie den Lauf an, den ein Trainer aufgezeichnet hat.</translation>
        </message>
        <message>
            <source>Give the run that the auditor judged.</source>
            <translation>Geben Sie den Lauf an, den der Prüfer beurteilt hat.</translation>
        </message>
        <message>
            <source>Give the same file and options as then, or start the audit anew, without --resume.</source>
            <translation>Geben Sie dieselbe Datei und dieselben Optionen wie damals an, oder beginnen Sie die Prüfung neu, ohne --resume.</translation>
        </message>
        <message>
            <source>Give the trainer's run of it.</source>
            <translation>Geben Sie den Lauf an, den der Trainer dafür gemacht hat.</translation>
        </message>
        <message>
            <source>Give the weights that 'counterfoil export' writes of it, or the order of an evaluation.</source>
            <translation>Geben Sie die Gewichte an, die „counterfoil export“ davon schreibt, oder den Auftrag einer Auswertung.</translation>
        </message>
        <message>
            <source>Give the whole run to the one who is to judge it.</source>
            <translation>Geben Sie den ganzen Lauf dem, der ihn beurteilen soll.</translation>
        </message>
        <message>
            <source>Give two runs of the same order, or more.</source>
            <translation>Geben Sie zwei Läufe desselben Auftrags an, oder mehr.</translation>
        </message>
        <message>
            <source>Give yourself the right to write there, or set HOME or TMPDIR to a folder where you may.</source>
            <translation>Geben Sie sich das Recht, dort zu schreiben, oder setzen Sie HOME oder TMPDIR auf einen Ordner, in dem Sie es dürfen.</translation>
        </message>
        <message>
            <source>Go on with --resume on the machine where the recording was begun, or restore its folder {0} from a backup.</source>
            <translation>Setzen Sie sie mit --resume auf dem Rechner fort, auf dem sie begonnen wurde, oder stellen Sie ihren Ordner {0} aus einer Sicherung wieder her.</translation>
        </message>
        <message>
            <source>Go on with --resume without workers, or on machines with more memory.</source>
            <translation>Fahren Sie mit --resume ohne Helfer fort oder auf Rechnern mit mehr Speicher.</translation>
        </message>
        <message>
            <source>Go on with --resume, with other workers or without.</source>
            <translation>Fahren Sie mit --resume fort, mit anderen Helfern oder ohne.</translation>
        </message>
        <message>
            <source>Go on with --resume: what is damaged is computed again.</source>
            <translation>Fahren Sie mit --resume fort: Was beschädigt ist, wird noch einmal berechnet.</translation>
        </message>
        <message>
            <source>Go on with it: add --resume. Or discard it: add --fresh.</source>
            <translation>Setzen Sie sie fort: mit --resume. Oder verwerfen Sie sie: mit --fresh.</translation>
        </message>
        <message>
            <source>Hashing the file: {0} %.</source>
            <translation>Prüfsumme der Datei: {0} %.</translation>
        </message>
        <message>
            <source>Hashing the record of the run</source>
            <translation>Die Aufzeichnung des Laufs wird gehasht</translation>
        </message>
        <message>
            <source>Hashing the weights</source>
            <translation>Die Gewichte werden gehasht</translation>
        </message>
        <message>
            <source>Hashing {0}</source>
            <translation>Hashes von {0}</translation>
        </message>
        <message>
            <source>Have the run audited by somebody else.</source>
            <translation>Lassen Sie den Lauf von jemand anderem prüfen.</translation>
        </message>
        <message>
            <source>Have the run audited to its end first.</source>
            <translation>Lassen Sie den Lauf erst zu Ende prüfen.</translation>
        </message>
        <message>
            <source>Highest learning rate.</source>
            <translation>Höchste Lernrate.</translation>
        </message>
        <message>
            <source>Hold so many steps of the order against the script, with --script: it runs as it is, and each step is executed from its state. 0 compares nothing, and the order says so wherever it is shown.</source>
            <translation>So viele Schritte des Auftrags mit dem Skript vergleichen, bei --script: Es läuft, wie es ist, und jeder Schritt wird von seinem Zustand aus ausgeführt. 0 vergleicht nichts, und überall, wo der Auftrag gezeigt wird, steht das dabei.</translation>
        </message>
        <message>
            <source>Hold so many steps of the order against the script, with --script; 0 compares nothing, and the order says so wherever it is shown.</source>
            <translation>Mit --script: so viele Schritte des Auftrags werden mit dem Skript verglichen; 0 vergleicht nichts, und der Auftrag sagt das überall, wo er gezeigt wird.</translation>
        </message>
        <message>
            <source>How many of the segments that others replayed, drawn at random, are replayed here too.</source>
            <translation>Wie viele der Segmente, die andere nachgerechnet haben, zufällig gezogen auch hier nachgerechnet werden.</translation>
        </message>
        <message>
            <source>How often each row is seen.</source>
            <translation>Wie oft jede Zeile gesehen wird.</translation>
        </message>
        <message>
            <source>How operators compute, and how many significand bits are kept. exact-20 and exact-13: results defined by mathematics, without a log. Which to take: docs/profiles.md.</source>
            <translation>Wie Operatoren rechnen, und wie viele Bits der Mantisse bleiben. exact-20 und exact-13: Ergebnisse, die die Mathematik festlegt, ohne Protokoll. Welches Profil: docs/profiles.md.</translation>
        </message>
        <message>
            <source>How operators compute, with --script or --from: in the place of what the job says.</source>
            <translation>Wie Operatoren rechnen, bei --script oder --from: anstelle dessen, was die Aufgabe sagt.</translation>
        </message>
        <message>
            <source>How operators compute.</source>
            <translation>Wie Operatoren rechnen.</translation>
        </message>
        <message>
            <source>How the data were made, in a sentence or more.</source>
            <translation>Wie die Daten entstanden sind, in einem Satz oder mehreren.</translation>
        </message>
        <message>
            <source>How the learning rate goes on after the warm-up.</source>
            <translation>Wie es mit der Lernrate nach dem Aufwärmen weitergeht.</translation>
        </message>
        <message>
            <source>If its owner really has a new key, ask the owner to confirm it, and name it differently.</source>
            <translation>Hat der Besitzer wirklich einen neuen Schlüssel, so lassen Sie ihn sich bestätigen, und nennen Sie ihn anders.</translation>
        </message>
        <message>
            <source>If that key is the client's, the client ordered what the file holds; give the key to find out.</source>
            <translation>Ist dieser Schlüssel der des Auftraggebers, so hat er bestellt, was die Datei enthält; geben Sie den Schlüssel an, um es herauszufinden.</translation>
        </message>
        <message>
            <source>If the steps before it went well, training has diverged: lower the learning rate, or clip the gradients. If not, look for a division by zero, a logarithm of zero, a row that is masked as a whole, and data of different sizes.</source>
            <translation>Wenn die Schritte davor gut gingen, ist das Training divergiert: Senken Sie die Lernrate, oder begrenzen Sie die Gradienten. Wenn nicht, suchen Sie nach einer Division durch null, einem Logarithmus von null, einer ganz maskierten Zeile und Daten verschiedener Größe.</translation>
        </message>
        <message>
            <source>If you do not know why, remove it: another one is made, and what was kept before is not used.</source>
            <translation>Wissen Sie nicht, warum, so entfernen Sie ihn: Ein anderer wird erzeugt, und was vorher aufbewahrt wurde, wird nicht benutzt.</translation>
        </message>
        <message>
            <source>If you have the file that was judged: its SHA-256 must be {0}.</source>
            <translation>Wenn Sie die geprüfte Datei haben: Ihr SHA-256 muss {0} sein.</translation>
        </message>
        <message>
            <source>In a shell: {0}=3 counterfoil ... 3&lt; &lt;(your password manager)</source>
            <translation>In einer Shell: {0}=3 counterfoil ... 3&lt; &lt;(Ihr Passwortprogramm)</translation>
        </message>
        <message>
            <source>In several steps, the last of them step {0}, the trainer's rounding log is not complete.</source>
            <translation>In mehreren Schritten, zuletzt in Schritt {0}, ist das Rundungsprotokoll des Trainers nicht vollständig.</translation>
        </message>
        <message>
            <source>In the recording in {0} {1} is damaged.</source>
            <translation>In der Aufzeichnung in {0} ist {1} beschädigt.</translation>
        </message>
        <message>
            <source>In the trainer's step {0} the disputed part ({1}) is right: it gives what the trainer signed, bit for bit, so there is nothing to dispute in it. Other parts of the step, and other steps, were not looked at.</source>
            <translation>In Schritt {0} des Trainers ist der strittige Teil ({1}) richtig: Er ergibt Bit für Bit, was der Trainer unterschrieben hat, also gibt es an ihm nichts zu beanstanden. Andere Teile des Schritts und andere Schritte wurden nicht angesehen.</translation>
        </message>
        <message>
            <source>In this folder, in a POSIX shell, with OpenSSL 3.0 or later. Nothing came to harm on the way:</source>
            <translation>In diesem Ordner, in einer POSIX-Shell, mit OpenSSL 3.0 oder neuer. Unterwegs ist nichts zu Schaden gekommen:</translation>
        </message>
        <message>
            <source>Install Counterfoil again, in an environment of its own.</source>
            <translation>Installieren Sie Counterfoil neu, in einer eigenen Umgebung.</translation>
        </message>
        <message>
            <source>Install Counterfoil again.</source>
            <translation>Installieren Sie Counterfoil neu.</translation>
        </message>
        <message>
            <source>Install a torch version that Counterfoil supports (2.11 to 2.13).</source>
            <translation>Installieren Sie eine Version von torch, die Counterfoil unterstützt (2.11 bis 2.13).</translation>
        </message>
        <message>
            <source>Install it (on Debian: apt-get install openssh-client).</source>
            <translation>Installieren Sie es (unter Debian: apt-get install openssh-client).</translation>
        </message>
        <message>
            <source>Install it here and on the machines: pip install counterfoil[cluster]</source>
            <translation>Installieren Sie es hier und auf den Rechnern: pip install counterfoil[cluster]</translation>
        </message>
        <message>
            <source>Install it: pip install 'counterfoil[hsm]'.</source>
            <translation>Installieren Sie es: pip install 'counterfoil[hsm]'.</translation>
        </message>
        <message>
            <source>Install it: pip install 'counterfoil[sealing]'. The program age opens a sealed file too: {0}</source>
            <translation>Installieren Sie sie: pip install 'counterfoil[sealing]'. Auch das Programm age öffnet eine versiegelte Datei: {0}</translation>
        </message>
        <message>
            <source>Install it: pip install counterfoil[beacon]</source>
            <translation>Installieren Sie sie: pip install counterfoil[beacon]</translation>
        </message>
        <message>
            <source>Install it; on Debian and Ubuntu: apt-get install libxcb-cursor0</source>
            <translation>Installieren Sie sie; unter Debian und Ubuntu: apt-get install libxcb-cursor0</translation>
        </message>
        <message>
            <source>Install the same version on both.</source>
            <translation>Installieren Sie auf beiden dieselbe Version.</translation>
        </message>
        <message>
            <source>Installed files</source>
            <translation>Installierte Dateien</translation>
        </message>
        <message>
            <source>Instruction sets</source>
            <translation>Befehlssätze</translation>
        </message>
        <message>
            <source>It accepted the order, signed with the key {0}, as it says on {1}.</source>
            <translation>Er hat den Auftrag, unterschrieben mit dem Schlüssel {0}, angenommen, wie er sagt am {1}.</translation>
        </message>
        <message>
            <source>It accepted the order, which was unsigned, as it says on {0}.</source>
            <translation>Er hat den Auftrag, der ohne Unterschrift war, angenommen, wie er sagt am {0}.</translation>
        </message>
        <message>
            <source>It answered what it was not asked.</source>
            <translation>Er antwortete auf etwas, wonach er nicht gefragt war.</translation>
        </message>
        <message>
            <source>It answers for that, and not the trainer.</source>
            <translation>Sie steht dafür ein, nicht der Trainer.</translation>
        </message>
        <message>
            <source>It comes to no result here, by either of two algorithms ({0}). That every conforming machine ends there is not proven, so nobody is accused.</source>
            <translation>Er kommt hier zu keinem Ergebnis, nach keinem von zwei Algorithmen ({0}). Dass jede normgerechte Maschine dort endet, ist nicht bewiesen; deshalb wird niemand beschuldigt.</translation>
        </message>
        <message>
            <source>It ended by itself: {0}.</source>
            <translation>Er endete von selbst: {0}.</translation>
        </message>
        <message>
            <source>It has something else. What differs: {0}.</source>
            <translation>Er hat etwas anderes. Verschieden: {0}.</translation>
        </message>
        <message>
            <source>It has {0}; {1} to {2} are allowed. Counted from the order, which the trainer signed.</source>
            <translation>Er hat {0}; erlaubt sind {1} bis {2}. Gezählt aus dem Auftrag, den der Trainer unterschrieben hat.</translation>
        </message>
        <message>
            <source>It is about another order, {0}..., and this is {1}....</source>
            <translation>Sie gilt einem anderen Auftrag, {0}..., und dieser ist {1}....</translation>
        </message>
        <message>
            <source>It is about another verdict.</source>
            <translation>Es gilt einem anderen Urteil.</translation>
        </message>
        <message>
            <source>It is about no verdict in this folder that holds.</source>
            <translation>Es geht um kein gültiges Urteil in diesem Ordner.</translation>
        </message>
        <message>
            <source>It is an adjudication, and no verdict.</source>
            <translation>Es ist ein Schiedsspruch und kein Urteil.</translation>
        </message>
        <message>
            <source>It is damaged, or was not kept by this user.</source>
            <translation>Er ist beschädigt oder wurde nicht von diesem Benutzer aufbewahrt.</translation>
        </message>
        <message>
            <source>It is gone.</source>
            <translation>Sie ist nicht mehr da.</translation>
        </message>
        <message>
            <source>It is list {0}, and list {1} was taken in.</source>
            <translation>Es ist Liste {0}, und aufgenommen wurde Liste {1}.</translation>
        </message>
        <message>
            <source>It is neither a verdict nor about one.</source>
            <translation>Es ist weder ein Urteil noch etwas zu einem.</translation>
        </message>
        <message>
            <source>It is not progress of the file that is audited.</source>
            <translation>Das ist kein Fortschritt der geprüften Datei.</translation>
        </message>
        <message>
            <source>It is not proven that a sound machine cannot give the trainer's result, so nobody is accused.</source>
            <translation>Es ist nicht bewiesen, dass keine einwandfreie Maschine das Ergebnis des Trainers liefern kann; deshalb wird niemand beschuldigt.</translation>
        </message>
        <message>
            <source>It is not shown by this step that the model is another than the one that was ordered.</source>
            <translation>Dass das Modell ein anderes ist als das bestellte, zeigt dieser Schritt nicht.</translation>
        </message>
        <message>
            <source>It is not shown that the model is one that no sound machine could have come to.</source>
            <translation>Es ist nicht gezeigt, dass keine einwandfreie Maschine zu diesem Modell hätte kommen können.</translation>
        </message>
        <message>
            <source>It is signed already.</source>
            <translation>Sie ist schon unterschrieben.</translation>
        </message>
        <message>
            <source>It is signed with none of the auditors' keys that were given.</source>
            <translation>Es ist mit keinem der angegebenen Schlüssel von Prüfern unterschrieben.</translation>
        </message>
        <message>
            <source>It is signed with the client's key {0}, which was given.</source>
            <translation>Er ist mit dem angegebenen Schlüssel {0} des Auftraggebers unterschrieben.</translation>
        </message>
        <message>
            <source>It is signed with the key {0}, as the client's own file is.</source>
            <translation>Er ist mit dem Schlüssel {0} unterschrieben, wie die eigene Datei des Auftraggebers.</translation>
        </message>
        <message>
            <source>It is signed with the key {0}, which is not that of {1}.</source>
            <translation>Es ist mit dem Schlüssel {0} unterschrieben, und das ist nicht der von: {1}.</translation>
        </message>
        <message>
            <source>It is signed with the key {0}, which only the file itself names as the client's.</source>
            <translation>Er ist mit dem Schlüssel {0} unterschrieben, den nur die Datei selbst den des Auftraggebers nennt.</translation>
        </message>
        <message>
            <source>It is the first step of the training.</source>
            <translation>Es ist der erste Schritt des Trainings.</translation>
        </message>
        <message>
            <source>It is the same verdict as {0}.</source>
            <translation>Es ist dasselbe Urteil wie {0}.</translation>
        </message>
        <message>
            <source>It is unsigned.</source>
            <translation>Er ist ohne Unterschrift.</translation>
        </message>
        <message>
            <source>It lies in {0} to {1}; {2} to {3} are allowed. By the order digest.</source>
            <translation>Der Wert liegt in {0} bis {1}; erlaubt sind {2} bis {3}. Durch den Auftrags-Hash gebunden.</translation>
        </message>
        <message>
            <source>It may be damaged, or made to do harm. Do not open it with other programs either.</source>
            <translation>Sie ist vielleicht beschädigt oder soll Schaden anrichten. Öffnen Sie sie auch nicht mit anderen Programmen.</translation>
        </message>
        <message>
            <source>It may have been short of memory. What was judged is kept: go on with --resume.</source>
            <translation>Vielleicht fehlte ihm Speicher. Was beurteilt wurde, ist aufbewahrt: Mit --resume geht es weiter.</translation>
        </message>
        <message>
            <source>It names its machine by characters that cannot be shown.</source>
            <translation>Er nennt seinen Rechner mit Zeichen, die nicht gezeigt werden können.</translation>
        </message>
        <message>
            <source>It names no trainer: no signature of a run held.</source>
            <translation>Es nennt keinen Trainer: Keine Unterschrift eines Laufs war gültig.</translation>
        </message>
        <message>
            <source>It said nothing for {0:.0f} seconds, and was ended.</source>
            <translation>Er sagte {0:.0f} Sekunden lang nichts und wurde beendet.</translation>
        </message>
        <message>
            <source>It says too much of its machine.</source>
            <translation>Er sagt zu viel über seinen Rechner.</translation>
        </message>
        <message>
            <source>It says what it is twice, or out of order.</source>
            <translation>Er sagt zweimal oder in falscher Reihenfolge, was er ist.</translation>
        </message>
        <message>
            <source>It speaks of {0:,} steps, and the order has {1:,}.</source>
            <translation>Sie spricht von {0:,} Schritten, und der Auftrag hat {1:,}.</translation>
        </message>
        <message>
            <source>Its auditor withdrew it on {0}: {1}</source>
            <translation>Der Prüfer hat es am {0} zurückgezogen: {1}</translation>
        </message>
        <message>
            <source>Its signature binds it to that, so the dispute can be settled by anybody who repeats this one share.</source>
            <translation>Ihre Unterschrift bindet sie daran; den Streit kann also jeder klären, der diesen einen Anteil wiederholt.</translation>
        </message>
        <message>
            <source>Its signature, its form and that it does not contradict itself; the exit code is {0}, as the outcome has it:</source>
            <translation>Unterschrift, Form und dass es sich nicht widerspricht; der Rückgabewert ist {0}, wie es das Ergebnis verlangt:</translation>
        </message>
        <message>
            <source>Job: {0}</source>
            <translation>Auftrag: {0}</translation>
        </message>
        <message>
            <source>Join texts to full rows, in the place of a padded row for each.</source>
            <translation>Texte zu vollen Zeilen verbinden, statt einer aufgefüllten Zeile für jeden.</translation>
        </message>
        <message>
            <source>Join texts to full rows, in the place of a padded row for each; files of plain text always are.</source>
            <translation>Texte zu vollen Zeilen verbinden, anstelle einer aufgefüllten Zeile für jeden; bei Dateien mit einfachem Text geschieht das immer.</translation>
        </message>
        <message>
            <source>Keep the divisor away from zero, for instance with clamp(min=1).</source>
            <translation>Halten Sie den Divisor von null fern, zum Beispiel mit clamp(min=1).</translation>
        </message>
        <message>
            <source>Kernels</source>
            <translation>Kernel</translation>
        </message>
        <message>
            <source>Kernels could not be compiled ahead, or not be kept.</source>
            <translation>Die Rechenkerne konnten nicht im Voraus übersetzt oder nicht aufbewahrt werden.</translation>
        </message>
        <message>
            <source>Kernels for CUDA are interpreted, which takes far longer. Unset it.</source>
            <translation>Kernel für CUDA werden interpretiert, was viel länger dauert. Entfernen Sie die Variable.</translation>
        </message>
        <message>
            <source>Key ids, 64 hexadecimal digits, or public key files, .pub.pem.</source>
            <translation>Schlüsselkennungen, 64 hexadezimale Ziffern, oder Dateien öffentlicher Schlüssel, .pub.pem.</translation>
        </message>
        <message>
            <source>Keys in hardware need the package python-pkcs11.</source>
            <translation>Schlüssel in Hardware brauchen das Paket python-pkcs11.</translation>
        </message>
        <message>
            <source>Known answers for SHA-256, Philox and a rounded training step came out right on {0}.</source>
            <translation>Bekannte Antworten für SHA-256, Philox und einen gerundeten Trainingsschritt kamen auf {0} richtig heraus.</translation>
        </message>
        <message>
            <source>Known answers for SHA-256, Philox and an exact training step came out right on {0}.</source>
            <translation>Bekannte Antworten für SHA-256, Philox und einen exakten Trainingsschritt kamen auf {0} richtig heraus.</translation>
        </message>
        <message>
            <source>Largest joint norm of the gradients; 0 for no limit.</source>
            <translation>Größte gemeinsame Norm der Gradienten; 0 für keine Grenze.</translation>
        </message>
        <message>
            <source>Later steps that differ, judged from the trainer's own checkpoints: {0}.</source>
            <translation>Spätere Schritte, die abweichen, beurteilt von den gespeicherten Zuständen des Trainers aus: {0}.</translation>
        </message>
        <message>
            <source>Leave --average out: its order asks for none.</source>
            <translation>Lassen Sie --average weg: Sein Auftrag verlangt keinen.</translation>
        </message>
        <message>
            <source>Leave it empty.</source>
            <translation>Lassen Sie es leer.</translation>
        </message>
        <message>
            <source>Leave it out to have one drawn.</source>
            <translation>Lassen Sie sie weg, damit eine gezogen wird.</translation>
        </message>
        <message>
            <source>Leave it out, or give the run that it was made of.</source>
            <translation>Lassen Sie sie weg, oder geben Sie den Lauf an, aus dem sie entstand.</translation>
        </message>
        <message>
            <source>Leave it out, or take in the public key of its auditor.</source>
            <translation>Lassen Sie es weg, oder nehmen Sie den öffentlichen Schlüssel seines Prüfers auf.</translation>
        </message>
        <message>
            <source>Leave it out, or write what it asks for: docs/rules.md lists the rules.</source>
            <translation>Lassen Sie sie weg, oder schreiben Sie, was sie verlangt: docs/rules.md zählt die Regeln auf.</translation>
        </message>
        <message>
            <source>Leave it out.</source>
            <translation>Lassen Sie ihn weg.</translation>
        </message>
        <message>
            <source>Leave it out: it is asked for, or given as a passphrase is.</source>
            <translation>Lassen Sie sie weg: Sie wird erfragt oder wie ein Passwort gegeben.</translation>
        </message>
        <message>
            <source>Leave out the workers, or which shares.</source>
            <translation>Lassen Sie die Helfer weg, oder die Wahl der Anteile.</translation>
        </message>
        <message>
            <source>Leave out which shares: whole steps are replayed then.</source>
            <translation>Lassen Sie die Wahl der Anteile weg: Dann werden ganze Schritte nachgerechnet.</translation>
        </message>
        <message>
            <source>Leave the beacon out.</source>
            <translation>Lassen Sie das öffentliche Signal weg.</translation>
        </message>
        <message>
            <source>Let the script use the network the first time that it runs, with --script; the other times it has none.</source>
            <translation>Das Skript beim ersten Mal, wenn es läuft, das Netz verwenden lassen, bei --script; die anderen Male hat es keines.</translation>
        </message>
        <message>
            <source>Line {0} of the {1} does not follow the one before it.</source>
            <translation>Zeile {0} ({1}) schließt nicht an die davor an.</translation>
        </message>
        <message>
            <source>Line {0} of {1} is not a tree head of this trainer. {2}</source>
            <translation>Zeile {0} von {1} ist kein Baumkopf dieses Trainers. {2}</translation>
        </message>
        <message>
            <source>List them with 'pkcs11-tool --list-objects', and name one by object or id.</source>
            <translation>Listen Sie sie mit 'pkcs11-tool --list-objects' auf, und nennen Sie einen mit object oder id.</translation>
        </message>
        <message>
            <source>Look at the reason that the adjudication gave.</source>
            <translation>Sehen Sie nach, welchen Grund der Schiedsspruch nannte.</translation>
        </message>
        <message>
            <source>Look at the reason that the audit gave.</source>
            <translation>Sehen Sie nach, welchen Grund die Prüfung nannte.</translation>
        </message>
        <message>
            <source>Look at the room on the disk and for a C compiler, and start again; or use the device cpu.</source>
            <translation>Sehen Sie nach, ob auf der Platte Platz und ein C-Compiler vorhanden ist, und beginnen Sie neu; oder nehmen Sie das Gerät cpu.</translation>
        </message>
        <message>
            <source>Look at the room on the disk, and at NUMBA_CACHE_DIR, which names a folder for them. Without it every process compiles what it needs.</source>
            <translation>Sehen Sie nach dem Platz auf dem Datenträger und nach NUMBA_CACHE_DIR, das einen Ordner dafür nennt. Ohne das übersetzt jeder Prozess, was er braucht.</translation>
        </message>
        <message>
            <source>Look at what it holds. Then make it yours alone: chown, and chmod go-w.</source>
            <translation>Sehen Sie nach, was darin steht. Machen Sie es dann zu Ihrem allein: chown und chmod go-w.</translation>
        </message>
        <message>
            <source>Look whether it is there.</source>
            <translation>Sehen Sie nach, ob sie da ist.</translation>
        </message>
        <message>
            <source>Look whether ssh reaches that machine without a password, and finds the command counterfoil there.</source>
            <translation>Sehen Sie nach, ob ssh jenen Rechner ohne Passwort erreicht und dort den Befehl counterfoil findet.</translation>
        </message>
        <message>
            <source>Looking for the rows that were read</source>
            <translation>Die gelesenen Zeilen werden gesucht</translation>
        </message>
        <message>
            <source>Machine</source>
            <translation>Rechner</translation>
        </message>
        <message>
            <source>Make an empty one: the tree heads are read as they come.</source>
            <translation>Legen Sie eine leere an: Die Baumköpfe werden gelesen, sobald sie kommen.</translation>
        </message>
        <message>
            <source>Make it again: counterfoil audit run.cfoil --segments ... --partial FILE</source>
            <translation>Erzeugen Sie sie neu: counterfoil audit run.cfoil --segments ... --partial FILE</translation>
        </message>
        <message>
            <source>Make one of these on the token.</source>
            <translation>Erzeugen Sie einen solchen auf dem Token.</translation>
        </message>
        <message>
            <source>Make one with 'counterfoil keygen'.</source>
            <translation>Erzeugen Sie eine mit 'counterfoil keygen'.</translation>
        </message>
        <message>
            <source>Make room on that disk.</source>
            <translation>Schaffen Sie Platz auf diesem Datenträger.</translation>
        </message>
        <message>
            <source>Make room there, or choose another folder.</source>
            <translation>Schaffen Sie dort Platz, oder wählen Sie einen anderen Ordner.</translation>
        </message>
        <message>
            <source>Make room there, or open a run of your own.</source>
            <translation>Schaffen Sie dort Platz, oder öffnen Sie einen eigenen Lauf.</translation>
        </message>
        <message>
            <source>Make room there; until then no case is remembered.</source>
            <translation>Schaffen Sie dort Platz; bis dahin wird kein Fall gemerkt.</translation>
        </message>
        <message>
            <source>Make room there; until then no key is remembered.</source>
            <translation>Schaffen Sie dort Platz; bis dahin wird kein Schlüssel gemerkt.</translation>
        </message>
        <message>
            <source>Make sure that the order file is the one that the client kept. If it is, ask the trainer for the run of this order.</source>
            <translation>Vergewissern Sie sich, dass die Auftragsdatei die vom Auftraggeber aufbewahrte ist. Wenn ja, bitten Sie den Trainer um den Lauf zu diesem Auftrag.</translation>
        </message>
        <message>
            <source>Make the folder, or choose another.</source>
            <translation>Legen Sie den Ordner an, oder wählen Sie einen anderen.</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>Arbeitsspeicher</translation>
        </message>
        <message>
            <source>Merkle trees of {0} and {1} leaves cannot be compared leaf by leaf.</source>
            <translation>Merkle-Bäume mit {0} und {1} Blättern lassen sich nicht Blatt für Blatt vergleichen.</translation>
        </message>
        <message>
            <source>Mirror images at random. Not for digits or letters.</source>
            <translation>Bilder zufällig spiegeln. Nicht für Ziffern oder Buchstaben.</translation>
        </message>
        <message>
            <source>Model root</source>
            <translation>Wurzel des Modells</translation>
        </message>
        <message>
            <source>Most likely another learning rate was used, another update rule, or the weights were edited.</source>
            <translation>Wahrscheinlich wurde eine andere Lernrate oder eine andere Änderungsregel verwendet, oder die Gewichte wurden bearbeitet.</translation>
        </message>
        <message>
            <source>Most likely it computed with other values or other operations than were ordered.</source>
            <translation>Wahrscheinlich rechnete es mit anderen Werten oder anderen Operationen als bestellt.</translation>
        </message>
        <message>
            <source>Most likely the log was damaged, or written so that the step cannot be checked.</source>
            <translation>Wahrscheinlich wurde das Protokoll beschädigt oder so geschrieben, dass der Schritt nicht geprüft werden kann.</translation>
        </message>
        <message>
            <source>Most likely the result was changed after the step was computed.</source>
            <translation>Wahrscheinlich wurde das Ergebnis geändert, nachdem der Schritt gerechnet war.</translation>
        </message>
        <message>
            <source>Most likely the state before it was edited, or the step was never computed.</source>
            <translation>Wahrscheinlich wurde der Zustand davor bearbeitet oder der Schritt nie berechnet.</translation>
        </message>
        <message>
            <source>Most likely the training data were changed, or other rows were trained on.</source>
            <translation>Wahrscheinlich wurden die Trainingsdaten geändert, oder es wurde mit anderen Zeilen trainiert.</translation>
        </message>
        <message>
            <source>Most likely this machine computes inexactly: it did not give its own result a second time.</source>
            <translation>Wahrscheinlich rechnet diese Maschine ungenau: Sie lieferte ihr eigenes Ergebnis kein zweites Mal.</translation>
        </message>
        <message>
            <source>Most likely values were rounded at will, to steer the training.</source>
            <translation>Wahrscheinlich wurden Werte nach Belieben gerundet, um das Training zu lenken.</translation>
        </message>
        <message>
            <source>Most often the machine ran out of memory. Close other programs, and try again.</source>
            <translation>Meist ging dem Rechner der Speicher aus. Schließen Sie andere Programme, und versuchen Sie es noch einmal.</translation>
        </message>
        <message>
            <source>Most tokens of a row.</source>
            <translation>Höchstzahl der Tokens einer Zeile.</translation>
        </message>
        <message>
            <source>Name another device, or start machines for it.</source>
            <translation>Nennen Sie ein anderes Gerät, oder starten Sie Rechner dafür.</translation>
        </message>
        <message>
            <source>Name of this machine</source>
            <translation>Name dieses Rechners</translation>
        </message>
        <message>
            <source>Name the file that it began, or one that does not exist.</source>
            <translation>Nennen Sie die Datei, die sie begonnen hat, oder eine, die es nicht gibt.</translation>
        </message>
        <message>
            <source>Name the file with module-path in the URI, or in the environment variable {0}.</source>
            <translation>Nennen Sie die Datei mit module-path in der URI oder in der Umgebungsvariable {0}.</translation>
        </message>
        <message>
            <source>Name the token, and the key by object or id, for instance: {0}</source>
            <translation>Nennen Sie das Token, und den Schlüssel mit object oder id, zum Beispiel: {0}</translation>
        </message>
        <message>
            <source>New passphrase: </source>
            <translation>Neues Passwort: </translation>
        </message>
        <message>
            <source>No CUDA device can be used on this machine.</source>
            <translation>Auf diesem Rechner ist kein CUDA-Gerät benutzbar.</translation>
        </message>
        <message>
            <source>No data array of the order has rows of dtype {0} and shape {1}.</source>
            <translation>Kein Datenfeld des Auftrags hat Zeilen vom Typ {0} und der Form {1}.</translation>
        </message>
        <message>
            <source>No data array of the order has the digest {0}, whatever it is called.</source>
            <translation>Kein Datenfeld des Auftrags hat den Hash {0}, wie auch immer es heißt.</translation>
        </message>
        <message>
            <source>No data array of the order has the digest {0}.</source>
            <translation>Kein Datenfeld des Auftrags hat den Hash {0}.</translation>
        </message>
        <message>
            <source>No error bound is known for the operator {0}, so how far hardware may honestly differ there is not known, and neither side can be shown to be wrong.</source>
            <translation>Für den Operator {0} ist keine Fehlerschranke bekannt, daher auch nicht, wie weit sich Hardware dort redlich unterscheiden darf, und keiner Seite lässt sich ein Fehler nachweisen.</translation>
        </message>
        <message>
            <source>No file or folder for the progress of the audit was given.</source>
            <translation>Es ist nicht angegeben, wo der Fortschritt aufbewahrt wurde.</translation>
        </message>
        <message>
            <source>No node of a Merkle tree of {0} leaves stands above the leaves {1} to {2}.</source>
            <translation>Kein Knoten eines Merkle-Baums mit {0} Blättern steht über den Blättern {1} bis {2}.</translation>
        </message>
        <message>
            <source>No passphrase was given.</source>
            <translation>Es wurde kein Passwort angegeben.</translation>
        </message>
        <message>
            <source>No process can be started for the replay: {0}.</source>
            <translation>Für das Nachrechnen kann kein Prozess gestartet werden: {0}.</translation>
        </message>
        <message>
            <source>No process can be started for worker {0}: {1}.</source>
            <translation>Für Helfer {0} lässt sich kein Prozess starten: {1}.</translation>
        </message>
        <message>
            <source>No process can be started to compile: {0}.</source>
            <translation>Zum Übersetzen kann kein Prozess gestartet werden: {0}.</translation>
        </message>
        <message>
            <source>No progress is kept of an audit of a run that lies elsewhere.</source>
            <translation>Von der Prüfung eines Laufs, der anderswo liegt, wird kein Fortschritt aufbewahrt.</translation>
        </message>
        <message>
            <source>No progress of an audit of this run was kept.</source>
            <translation>Von einer Prüfung dieses Laufs wurde kein Fortschritt aufbewahrt.</translation>
        </message>
        <message>
            <source>No recording was begun in {0}.</source>
            <translation>In {0} wurde keine Aufzeichnung begonnen.</translation>
        </message>
        <message>
            <source>No root that was given answers for the certificate of the key {0}.</source>
            <translation>Keine der angegebenen Wurzeln steht für das Zertifikat des Schlüssels {0} ein.</translation>
        </message>
        <message>
            <source>No row was found, so that there is no place to prove.</source>
            <translation>Es wurde keine Zeile gefunden; es gibt also keine Stelle zu beweisen.</translation>
        </message>
        <message>
            <source>No sampling rate can be proposed for these wishes.</source>
            <translation>Zu diesen Wünschen lässt sich kein Anteil der Stichprobe vorschlagen.</translation>
        </message>
        <message>
            <source>No signature of a trainer's holds, so it is open who trained.</source>
            <translation>Keine Unterschrift eines Trainers gilt; wer trainiert hat, ist also offen.</translation>
        </message>
        <message>
            <source>No signature of the run was found to hold, so no key can be known for it.</source>
            <translation>Keine Unterschrift des Laufs wurde für gültig befunden; für ihn kann also kein Schlüssel bekannt sein.</translation>
        </message>
        <message>
            <source>No tree head covers a step of the run: all that were given are about its initial state.</source>
            <translation>Kein Baumkopf deckt einen Schritt des Laufs ab: Alle angegebenen handeln von seinem Anfangszustand.</translation>
        </message>
        <message>
            <source>No verdict was given that one of the auditors signed on this run and that verifies it.</source>
            <translation>Es wurde kein Urteil angegeben, mit dem einer der Prüfer diesen Lauf bestätigt.</translation>
        </message>
        <message>
            <source>No worker is left. {0}</source>
            <translation>Kein Helfer ist mehr da. {0}</translation>
        </message>
        <message>
            <source>Nobody is accused; use another machine, or audit each of the runs.</source>
            <translation>Niemand wird beschuldigt; nehmen Sie einen anderen Rechner, oder prüfen Sie jeden der Läufe.</translation>
        </message>
        <message>
            <source>Nobody said which PKCS #11 module reaches the hardware.</source>
            <translation>Es ist nicht gesagt, welches PKCS-#11-Modul die Hardware erreicht.</translation>
        </message>
        <message>
            <source>Not compared with a script; whether it came from one it does not say.</source>
            <translation>Nicht mit einem Skript verglichen; ob er aus einem stammt, sagt er nicht.</translation>
        </message>
        <message>
            <source>Not compared with the script, but by the trainer, whose signature does not count for it.</source>
            <translation>Nicht mit dem Skript verglichen, außer vom Trainer, dessen Unterschrift dafür nicht zählt.</translation>
        </message>
        <message>
            <source>Not compared with the script.</source>
            <translation>Nicht mit dem Skript verglichen.</translation>
        </message>
        <message>
            <source>Not delivered, since training leaves them as they were ordered, tensors: {0}.</source>
            <translation>Nicht geliefert, weil das Training sie lässt, wie sie bestellt waren, Tensoren: {0}.</translation>
        </message>
        <message>
            <source>Not what was ordered: {0}.</source>
            <translation>Nicht, was beauftragt war: {0}.</translation>
        </message>
        <message>
            <source>Nothing came to the recording in {0} for {1:.0f} seconds: its recorder seems to have ended after step {2}.</source>
            <translation>Zur Aufzeichnung in {0} kam {1:.0f} Sekunden lang nichts hinzu: Wer sie führt, scheint nach Schritt {2} geendet zu haben.</translation>
        </message>
        <message>
            <source>Nothing follows for the model until the run has been replayed on another machine.</source>
            <translation>Für das Modell folgt daraus nichts, bis der Lauf auf einer anderen Maschine nachgerechnet ist.</translation>
        </message>
        <message>
            <source>Nothing is compiled, so that everything takes a hundred times as long. Unset it.</source>
            <translation>Nichts wird übersetzt, sodass alles hundertmal so lange dauert. Entfernen Sie die Variable.</translation>
        </message>
        <message>
            <source>Nothing is wrong with this machine.</source>
            <translation>Mit diesem Rechner ist alles in Ordnung.</translation>
        </message>
        <message>
            <source>Nothing shows that it was compared with the script: {0} cannot be used. {1}</source>
            <translation>Nichts zeigt, dass er mit dem Skript verglichen wurde: {0} ist nicht zu gebrauchen. {1}</translation>
        </message>
        <message>
            <source>Nothing was changed. Choose a file that the preferences of this version exported.</source>
            <translation>Es wurde nichts geändert. Wählen Sie eine Datei, die aus den Einstellungen dieser Version exportiert wurde.</translation>
        </message>
        <message>
            <source>Nothing was computed. If you trust the order, and this machine has the memory and the time for it, allow large programs: with --allow-large on the command line, or in the plan of the window.</source>
            <translation>Nichts wurde berechnet. Wenn Sie dem Auftrag vertrauen und diese Maschine ihn tragen kann, lassen Sie große Programme zu: mit --allow-large auf der Kommandozeile oder im Plan des Fensters.</translation>
        </message>
        <message>
            <source>Nothing was concluded. Please report this with the details below.</source>
            <translation>Es wurde nichts geschlossen. Bitte melden Sie das mit den Einzelheiten unten.</translation>
        </message>
        <message>
            <source>Nothing was replayed.</source>
            <translation>Nichts wurde nachgerechnet.</translation>
        </message>
        <message>
            <source>Of the order nothing but its manifest is needed: what shares give is added.</source>
            <translation>Vom Auftrag wird nur das Manifest gebraucht: Was Anteile ergeben, wird addiert.</translation>
        </message>
        <message>
            <source>Of the trainer's output the run holds a fingerprint and no values.</source>
            <translation>Von der Ausgabe des Trainers enthält der Lauf einen Fingerabdruck und keine Werte.</translation>
        </message>
        <message>
            <source>Of {0} judged steps one differs: {1}.</source>
            <translation>Von {0} beurteilten Schritten weicht einer ab: {1}.</translation>
        </message>
        <message>
            <source>Of {0} judged steps {1} differ; the first is {2}.</source>
            <translation>Von {0} beurteilten Schritten weichen {1} ab; der erste ist {2}.</translation>
        </message>
        <message>
            <source>On the token {0} there are {1} such keys, and there must be one.</source>
            <translation>Auf dem Token {0} gibt es {1} solche Schlüssel, und es muss einer sein.</translation>
        </message>
        <message>
            <source>On {0} a step of this order takes {1:.2g} s, one under exact-20 {2:.2g} s, and one under exact-13 {3:.2g} s: by a model of its data sheet, and not measured. Exact profiles do without float64.</source>
            <translation>Auf {0} dauert ein Schritt dieses Auftrags {1:.2g} s, einer unter exact-20 {2:.2g} s und einer unter exact-13 {3:.2g} s: nach einem Modell ihres Datenblatts, nicht gemessen. Exakte Profile kommen ohne float64 aus.</translation>
        </message>
        <message>
            <source>On {0} there is Counterfoil {1}, and here {2}.</source>
            <translation>Auf {0} läuft Counterfoil {1}, hier {2}.</translation>
        </message>
        <message>
            <source>One of the auditors disputes this run.</source>
            <translation>Einer der Prüfer bestreitet diesen Lauf.</translation>
        </message>
        <message>
            <source>One of the auditors verified it and replayed {0} of its steps; {1} are asked for.</source>
            <translation>Einer der Prüfer hat ihn bestätigt und {0} seiner Schritte nachgerechnet; verlangt sind {1}.</translation>
        </message>
        <message>
            <source>One thing is wrong.</source>
            <translation>Eines ist falsch.</translation>
        </message>
        <message>
            <source>One tree head that the trainer signed agrees with it</source>
            <translation>Ein Baumkopf, den der Trainer unterschrieben hat, stimmt damit überein</translation>
        </message>
        <message>
            <source>One value is another: in row {0} of the batch {1} stands for {2}.</source>
            <translation>Ein Wert ist ein anderer: In Zeile {0} des Stapels steht {1} für {2}.</translation>
        </message>
        <message>
            <source>Only {0} of the {1} chosen shares could be judged.</source>
            <translation>Nur {0} der {1} gewählten Anteile konnten beurteilt werden.</translation>
        </message>
        <message>
            <source>Only {0} of the {1} chosen steps could be judged.</source>
            <translation>Nur {0} der {1} gewählten Schritte konnten beurteilt werden.</translation>
        </message>
        <message>
            <source>Open it with the program age, or ask for the file as it was sealed.</source>
            <translation>Öffnen Sie sie mit dem Programm age, oder bitten Sie um die Datei, wie sie versiegelt wurde.</translation>
        </message>
        <message>
            <source>Open the trainer's run of it.</source>
            <translation>Öffnen Sie den Lauf des Trainers dazu.</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>Auftrag</translation>
        </message>
        <message>
            <source>Order a profile with fewer bits, or smaller batches.</source>
            <translation>Bestellen Sie ein Profil mit weniger Bit oder kleinere Batches.</translation>
        </message>
        <message>
            <source>Order at most so many steps, with --script.</source>
            <translation>Höchstens so viele Schritte bestellen, bei --script.</translation>
        </message>
        <message>
            <source>Order the job anew with an exact profile, so that its operators are taken apart when it is captured.</source>
            <translation>Bestellen Sie die Aufgabe neu mit einem exakten Profil, damit ihre Operatoren beim Erfassen zerlegt werden.</translation>
        </message>
        <message>
            <source>Order the job anew with this profile, so that its products are by rows when captured.</source>
            <translation>Bestellen Sie die Aufgabe neu mit diesem Profil, damit ihre Produkte beim Erfassen zeilenweise werden.</translation>
        </message>
        <message>
            <source>Order what a training script of yours trains, as it is; its arguments stand behind --. It runs here three times, in private copies of this folder (docs/for-trainers.md).</source>
            <translation>Bestellen, was ein eigenes Trainingsskript trainiert, so wie es ist; seine Argumente stehen hinter --. Es läuft hier dreimal, in eigenen Kopien dieses Ordners (docs/for-trainers.md).</translation>
        </message>
        <message>
            <source>Order what an evaluation script of yours counts, in the place of a folder and data; its arguments stand behind --. It runs here three times, in private copies of this folder (docs/evaluations.md).</source>
            <translation>Beauftragt, was ein eigenes Auswertungsskript zählt, statt eines Ordners und Daten; seine Argumente stehen hinter --. Es läuft hier dreimal, in privaten Kopien dieses Ordners (docs/evaluations.md).</translation>
        </message>
        <message>
            <source>Order your own model: a function of yours that returns a counterfoil.CustomJob. It runs here and now, and never on the trainer's or the auditor's machine.</source>
            <translation>Ihr eigenes Modell bestellen: eine Funktion von Ihnen, die einen counterfoil.CustomJob zurückgibt. Sie läuft hier und jetzt, und nie auf dem Rechner des Trainers oder des Prüfers.</translation>
        </message>
        <message>
            <source>Other rows were read than were ordered: their fingerprint is another. What was read cannot be shown. The run holds a fingerprint of it and no values, and no simple change of the ordered rows gives that fingerprint.</source>
            <translation>Gelesen wurden andere Zeilen als beauftragt: Ihr Fingerabdruck ist ein anderer. Was gelesen wurde, lässt sich nicht zeigen. Der Lauf enthält davon einen Fingerabdruck und keine Werte, und keine einfache Änderung der beauftragten Zeilen ergibt ihn.</translation>
        </message>
        <message>
            <source>PIN of {0}: </source>
            <translation>PIN von {0}: </translation>
        </message>
        <message>
            <source>Passphrase of {0}: </source>
            <translation>Passwort von {0}: </translation>
        </message>
        <message>
            <source>Plug it in; 'pkcs11-tool --list-slots' shows what is there.</source>
            <translation>Stecken Sie es ein; 'pkcs11-tool --list-slots' zeigt, was da ist.</translation>
        </message>
        <message>
            <source>Processor</source>
            <translation>Prozessor</translation>
        </message>
        <message>
            <source>Processors</source>
            <translation>Prozessoren</translation>
        </message>
        <message>
            <source>Program, data, schedule and initial state match the order</source>
            <translation>Programm, Daten, Ablauf und Anfangszustand passen zum Auftrag</translation>
        </message>
        <message>
            <source>Program, schedule, scalars and the batch rows of {0} data arrays are proven parts of the order.</source>
            <translation>Programm, Ablauf, Skalare und die Zeilen der Batches von {0} Datenfeldern sind bewiesene Teile des Auftrags.</translation>
        </message>
        <message>
            <source>Program, schedule, scalars and the initial state match the order. The data ({0}) lie in the data file {1}, which is checked before a replay.</source>
            <translation>Programm, Ablauf, Skalare und Anfangszustand passen zum Auftrag. Die Daten ({0}) liegen in der Datendatei {1}, die vor dem Nachrechnen geprüft wird.</translation>
        </message>
        <message>
            <source>Program, schedule, scalars, {0} data arrays (those in {1} too) and the initial state match the order.</source>
            <translation>Programm, Ablauf, Skalare, {0} Datenfelder (die in {1} auch) und der Anfangszustand passen zum Auftrag.</translation>
        </message>
        <message>
            <source>Program, schedule, scalars, {0} data arrays and the initial state match the order.</source>
            <translation>Programm, Ablauf, Skalare, {0} Datenfelder und Anfangszustand passen zum Auftrag.</translation>
        </message>
        <message>
            <source>Program, schedule, scalars, {0} data arrays and the initial state match the order. They were read from the client's own file, and not fetched.</source>
            <translation>Programm, Zeitplan, Skalare, {0} Datenfelder und der Anfangszustand stimmen mit dem Auftrag überein. Sie wurden aus der eigenen Datei des Kunden gelesen und nicht abgerufen.</translation>
        </message>
        <message>
            <source>Progress of audits, and secrets of this user</source>
            <translation>Fortschritt von Audits und Geheimnisse dieses Benutzers</translation>
        </message>
        <message>
            <source>Proven margins follow from the program; none may be set for single operators.</source>
            <translation>Bewiesene Toleranzen folgen aus dem Programm; für einzelne Operatoren darf keine gesetzt werden.</translation>
        </message>
        <message>
            <source>Public key of an auditor, to check verdicts with. Can be given several times.</source>
            <translation>Öffentlicher Schlüssel eines Prüfers, um Urteile zu prüfen. Kann mehrmals angegeben werden.</translation>
        </message>
        <message>
            <source>Public weights to start from, a .safetensors file.</source>
            <translation>Veröffentlichte Gewichte, mit denen begonnen wird, eine .safetensors-Datei.</translation>
        </message>
        <message>
            <source>REVOKED</source>
            <translation>WIDERRUFEN</translation>
        </message>
        <message>
            <source>Rank 0 signs the run, and was given no key.</source>
            <translation>Rang 0 unterschreibt den Lauf und hat keinen Schlüssel bekommen.</translation>
        </message>
        <message>
            <source>Ranks that torchrun starts wait for this name until they fail. On one machine give torchrun --standalone --local-addr 127.0.0.1; on several each one's address as --local-addr, or let /etc/hosts say it.</source>
            <translation>Ränge, die torchrun startet, warten auf diesen Namen, bis sie scheitern. Auf einem Rechner hilft torchrun --standalone --local-addr 127.0.0.1; auf mehreren gibt --local-addr jedem seine eigene Adresse, oder sie steht in /etc/hosts.</translation>
        </message>
        <message>
            <source>Ray is not installed.</source>
            <translation>Ray ist nicht installiert.</translation>
        </message>
        <message>
            <source>Ray lost it or its machine</source>
            <translation>Ray hat ihn oder seinen Rechner verloren</translation>
        </message>
        <message>
            <source>Reading the data</source>
            <translation>Die Daten werden gelesen</translation>
        </message>
        <message>
            <source>Reading what the run says of itself</source>
            <translation>Gelesen wird, was der Lauf von sich sagt</translation>
        </message>
        <message>
            <source>Reading {0} failed: the file is damaged.</source>
            <translation>{0} konnte nicht gelesen werden: Die Datei ist beschädigt.</translation>
        </message>
        <message>
            <source>Rely on nothing that it says, and tell whoever signed it.</source>
            <translation>Verlassen Sie sich auf nichts, was darin steht, und benachrichtigen Sie den, der es unterschrieben hat.</translation>
        </message>
        <message>
            <source>Remove it from the list first, if that was wrong.</source>
            <translation>Entfernen Sie ihn zuerst aus der Liste, wenn das falsch war.</translation>
        </message>
        <message>
            <source>Remove it. What of the recording it stood for is computed again with --resume.</source>
            <translation>Entfernen Sie sie. Wofür sie in der Aufzeichnung stand, wird mit --resume noch einmal berechnet.</translation>
        </message>
        <message>
            <source>Remove keys that you do not need.</source>
            <translation>Entfernen Sie Schlüssel, die Sie nicht brauchen.</translation>
        </message>
        <message>
            <source>Remove what lies there, and start again: the window makes a new file.</source>
            <translation>Entfernen Sie, was dort liegt, und starten Sie neu: das Fenster legt eine neue Datei an.</translation>
        </message>
        <message>
            <source>Repair the file, or move it away to begin a new one.</source>
            <translation>Reparieren Sie die Datei, oder verschieben Sie sie, um eine neue zu beginnen.</translation>
        </message>
        <message>
            <source>Replace that file by what was published, and go on with --resume.</source>
            <translation>Ersetzen Sie diese Datei durch das Veröffentlichte und fahren Sie mit --resume fort.</translation>
        </message>
        <message>
            <source>Replay it on a device with more memory.</source>
            <translation>Rechnen Sie ihn auf einem Gerät mit mehr Speicher nach.</translation>
        </message>
        <message>
            <source>Replay the disputed step on your own machine. The capsule needs no trust in the auditor: all of it is bound to the order and to what the trainer signed. Exit code 1 and CONFIRMED: the auditor is right; 0 and REJECTED: the trainer is.</source>
            <translation>Den strittigen Schritt auf dem eigenen Rechner nachrechnen. Die Kapsel verlangt kein Vertrauen in den Prüfer: Alles darin ist an den Auftrag und an das gebunden, was der Trainer unterschrieben hat. Rückgabewert 1 und CONFIRMED: Der Prüfer hat recht; 0 und REJECTED: der Trainer.</translation>
        </message>
        <message>
            <source>Replay the run again.</source>
            <translation>Rechnen Sie den Lauf noch einmal nach.</translation>
        </message>
        <message>
            <source>Replay the run on another machine; if it ends there too, ask the trainer how it went on.</source>
            <translation>Rechnen Sie den Lauf auf einem anderen Rechner nach; endet er auch dort, so fragen Sie den Trainer, wie es weiterging.</translation>
        </message>
        <message>
            <source>Replaying</source>
            <translation>Wird nachgerechnet</translation>
        </message>
        <message>
            <source>Replaying segment {0} here too, as a check of {1}.</source>
            <translation>Segment {0} wird auch hier nachgerechnet, zur Probe auf {1}.</translation>
        </message>
        <message>
            <source>Replaying step {0}</source>
            <translation>Schritt {0} wird nachgerechnet</translation>
        </message>
        <message>
            <source>Restore {0} from a backup, or discard it: --fresh.</source>
            <translation>Stellen Sie {0} aus einer Sicherung wieder her, oder verwerfen Sie sie: --fresh.</translation>
        </message>
        <message>
            <source>Results and verdicts are not touched: open a run to see its case again.</source>
            <translation>Ergebnisse und Urteile sind nicht betroffen: Öffnen Sie einen Lauf, um seinen Fall wieder zu sehen.</translation>
        </message>
        <message>
            <source>Round {0} of the beacon is published at {1}, which has not come yet.</source>
            <translation>Runde {0} des öffentlichen Signals wird um {1} veröffentlicht, und das ist noch nicht gekommen.</translation>
        </message>
        <message>
            <source>Round {0} of the beacon was published at {1}, and the run was signed at {2}, as its trainer says: the trainer could know the sample.</source>
            <translation>Runde {0} des öffentlichen Signals wurde um {1} veröffentlicht, und der Lauf wurde um {2} unterschrieben, wie sein Trainer sagt: Der Trainer konnte die Stichprobe kennen.</translation>
        </message>
        <message>
            <source>Rounding decisions that lie within the error bound of a midpoint were left out of the log in {0} steps ({1}), which no conforming recorder does.</source>
            <translation>Rundungsentscheidungen, die innerhalb der Fehlerschranke einer Mitte liegen, fehlen im Protokoll von {0} Schritten ({1}), was bei keiner normgerechten Aufzeichnung vorkommt.</translation>
        </message>
        <message>
            <source>Rounding log, judged</source>
            <translation>Rundungsprotokoll, beurteilt</translation>
        </message>
        <message>
            <source>Rounding log, recorded</source>
            <translation>Rundungsprotokoll, aufgezeichnet</translation>
        </message>
        <message>
            <source>Rounding site {0} of a log claims {1} entries for {2} elements.</source>
            <translation>Die Rundungsstelle {0} eines Protokolls nennt {1} Einträge für {2} Elemente.</translation>
        </message>
        <message>
            <source>Rounding site {0} of a log has the impossible scale exponent {1}.</source>
            <translation>Die Rundungsstelle {0} eines Protokolls hat den unmöglichen Exponenten {1}.</translation>
        </message>
        <message>
            <source>Rounding site {0} of a log is truncated, or has no proper Rice parameter.</source>
            <translation>Die Rundungsstelle {0} eines Protokolls ist abgeschnitten oder hat keinen richtigen Rice-Parameter.</translation>
        </message>
        <message>
            <source>Rounding, fingerprints, draws</source>
            <translation>Runden, Fingerabdrücke, Zufallszahlen</translation>
        </message>
        <message>
            <source>Row {0} of the batch is row {1} of the data, where row {2} was ordered.</source>
            <translation>Zeile {0} des Stapels ist Zeile {1} der Daten, wo Zeile {2} beauftragt war.</translation>
        </message>
        <message>
            <source>Row {0} of {1} has the wrong length.</source>
            <translation>Zeile {0} von {1} hat die falsche Länge.</translation>
        </message>
        <message>
            <source>Rows are looked for only where it can be told which of those that a step names it reads.</source>
            <translation>Zeilen werden nur gesucht, wo sich sagen lässt, welche der genannten ein Schritt liest.</translation>
        </message>
        <message>
            <source>Rows of the data per step.</source>
            <translation>Zeilen der Daten in jedem Schritt.</translation>
        </message>
        <message>
            <source>Rows of the table that is made up.</source>
            <translation>Zeilen der erfundenen Tabelle.</translation>
        </message>
        <message>
            <source>Run the code once more in another process, with --from, while the first step is tried: a step that hangs on the order of a set, say, is another program there. --no-second-look for code that must not run twice.</source>
            <translation>Den Code bei --from noch einmal in einem anderen Prozess ausführen, während der erste Schritt ausprobiert wird: Ein Schritt, der etwa von der Reihenfolge einer Menge abhängt, ist dort ein anderes Programm. --no-second-look für Code, der nicht zweimal laufen darf.</translation>
        </message>
        <message>
            <source>Runs, .cfoil files.</source>
            <translation>Läufe, .cfoil-Dateien.</translation>
        </message>
        <message>
            <source>SHA-256 of states</source>
            <translation>SHA-256 von Zuständen</translation>
        </message>
        <message>
            <source>Sandbox</source>
            <translation>Sandbox</translation>
        </message>
        <message>
            <source>Save the model again into an empty folder.</source>
            <translation>Speichern Sie das Modell noch einmal in einen leeren Ordner.</translation>
        </message>
        <message>
            <source>Say whose it is, or remove it.</source>
            <translation>Sagen Sie, wessen er ist, oder entfernen Sie ihn.</translation>
        </message>
        <message>
            <source>Score</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>Screen {0}</source>
            <translation>Bildschirm {0}</translation>
        </message>
        <message>
            <source>Screens</source>
            <translation>Bildschirme</translation>
        </message>
        <message>
            <source>Sealed files need a library that is not installed: {0}.</source>
            <translation>Versiegelte Dateien brauchen eine Bibliothek, die nicht installiert ist: {0}.</translation>
        </message>
        <message>
            <source>Seed of initial weights, shuffling and every other random draw.</source>
            <translation>Startwert der Anfangsgewichte, der Reihenfolge und jedes anderen Zufalls.</translation>
        </message>
        <message>
            <source>Segment {0} came out right on the machine {1}, it said, and here it does not ({2}). What the workers say cannot be relied on.</source>
            <translation>Segment {0} kam auf dem Rechner {1} richtig heraus, wie er sagte, und hier nicht ({2}). Auf das, was die Helfer sagen, ist kein Verlass.</translation>
        </message>
        <message>
            <source>Segment {0} ended {1} workers, each in the middle of its replay, so it was not replayed.</source>
            <translation>Segment {0} beendete {1} Helfer, jeden mitten im Nachrechnen; es wurde deshalb nicht nachgerechnet.</translation>
        </message>
        <message>
            <source>Segment {0} is in none of the parts, so it is replayed here.</source>
            <translation>Segment {0} steht in keinem der Teile und wird deshalb hier nachgerechnet.</translation>
        </message>
        <message>
            <source>Segment {0} of the run is not as it was followed while it was recorded ({1}), so it is replayed here.</source>
            <translation>Segment {0} des Laufs ist nicht so, wie es während der Aufzeichnung verfolgt wurde ({1}), und wird deshalb hier nachgerechnet.</translation>
        </message>
        <message>
            <source>Segments are chosen by --segments or by --confidence, not by both.</source>
            <translation>Segmente werden mit --segments oder mit --confidence gewählt, nicht mit beiden.</translation>
        </message>
        <message>
            <source>Segments are chosen by number, by count, or by confidence; only one of them.</source>
            <translation>Segmente werden nach Nummer, nach Anzahl oder nach Sicherheit gewählt; nur nach einem davon.</translation>
        </message>
        <message>
            <source>Self-test</source>
            <translation>Selbsttest</translation>
        </message>
        <message>
            <source>Set NUMBA_CACHE_DIR to a folder where you may write.</source>
            <translation>Setzen Sie NUMBA_CACHE_DIR auf einen Ordner, in den Sie schreiben dürfen.</translation>
        </message>
        <message>
            <source>Set TMPDIR to a folder that can be written and has room.</source>
            <translation>Setzen Sie TMPDIR auf einen Ordner, in den geschrieben werden kann und der Platz hat.</translation>
        </message>
        <message>
            <source>Set this machine's clock right.</source>
            <translation>Stellen Sie die Uhr dieses Rechners richtig.</translation>
        </message>
        <message>
            <source>Share {0} of step {1} is not what its party signed: {2}. The trainer put the run together of shares that their parties did not sign, or the file was altered.</source>
            <translation>Anteil {0} von Schritt {1} ist nicht, was seine Partei unterschrieben hat: {2}. Der Trainer hat den Lauf aus Anteilen zusammengesetzt, die ihre Parteien nicht unterschrieben haben, oder die Datei wurde verändert.</translation>
        </message>
        <message>
            <source>Shares and risks lie between 0 and 1, without them; a run has at least one segment, and at least one clean run ends the time after a dispute.</source>
            <translation>Anteile und Risiken liegen zwischen 0 und 1, beide ausgeschlossen; ein Lauf hat mindestens ein Segment, und mindestens ein sauberer Lauf beendet die Zeit nach einem Streitfall.</translation>
        </message>
        <message>
            <source>Shares are to be judged, and the steps of this order have none.</source>
            <translation>Anteile sollen beurteilt werden, und die Schritte dieses Auftrags haben keine.</translation>
        </message>
        <message>
            <source>Shift images at random by up to so many pixels; 0 for not at all.</source>
            <translation>Bilder zufällig um bis zu so viele Pixel verschieben; 0 für gar nicht.</translation>
        </message>
        <message>
            <source>Show it numpy arrays, or tensors of a dtype that numpy has.</source>
            <translation>Zeigen Sie ihm Arrays von numpy oder Tensoren eines dtype, den numpy hat.</translation>
        </message>
        <message>
            <source>Show it the tensors of the model.</source>
            <translation>Zeigen Sie ihm die Tensoren des Modells.</translation>
        </message>
        <message>
            <source>Sign nothing of it: start anew, and replay the run again.</source>
            <translation>Unterschreiben Sie nichts davon: Beginnen Sie neu, und rechnen Sie den Lauf noch einmal nach.</translation>
        </message>
        <message>
            <source>Sign one that counts.</source>
            <translation>Unterschreiben Sie eines, das zählt.</translation>
        </message>
        <message>
            <source>Sign the verdict before you close the window.</source>
            <translation>Unterschreiben Sie das Urteil, bevor Sie das Fenster schließen.</translation>
        </message>
        <message>
            <source>Sign with the auditor's key.</source>
            <translation>Unterschreiben Sie mit dem Schlüssel des Prüfers.</translation>
        </message>
        <message>
            <source>Signed at {0} with the key {1}</source>
            <translation>Unterschrieben am {0} mit dem Schlüssel {1}</translation>
        </message>
        <message>
            <source>Signed by {0}, {1}.</source>
            <translation>Unterschrieben von {0}, {1}.</translation>
        </message>
        <message>
            <source>Some of the runs are signed with the same key: they are not of different providers.</source>
            <translation>Einige der Läufe sind mit demselben Schlüssel unterschrieben: Sie stammen nicht von verschiedenen Anbietern.</translation>
        </message>
        <message>
            <source>Some values lie close enough to a midpoint for hardware to round them differently, but rounding them to the other side does not lead to what the trainer signed.</source>
            <translation>Einige Werte liegen so nahe an einer Mitte, dass Hardware sie verschieden rundet; sie zur anderen Seite zu runden führt aber nicht zu dem, was der Trainer unterschrieben hat.</translation>
        </message>
        <message>
            <source>Somebody else has the key, or may have it: nothing counts that it ever signed.</source>
            <translation>Jemand anderes hat den Schlüssel oder könnte ihn haben: Nichts zählt, was er je unterschrieben hat.</translation>
        </message>
        <message>
            <source>Something in {0} is a second name for another object, which is not allowed.</source>
            <translation>Etwas in {0} ist ein zweiter Name für ein anderes Objekt, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>Split a batch, or a share of it, into so many parts, whose gradients are accumulated.</source>
            <translation>Einen Batch, oder einen Anteil davon, in so viele Teile teilen, deren Gradienten aufsummiert werden.</translation>
        </message>
        <message>
            <source>Start again on another device, for instance cpu; if it fails there too, restart the machine.</source>
            <translation>Beginnen Sie auf einem anderen Gerät von vorn, etwa cpu; wenn es auch dort versagt, starten Sie den Rechner neu.</translation>
        </message>
        <message>
            <source>Start again; if it happens again, look whether something on this machine ends or stops processes.</source>
            <translation>Beginnen Sie noch einmal; wenn es wieder geschieht, sehen Sie nach, ob auf diesem Rechner etwas Prozesse beendet oder anhält.</translation>
        </message>
        <message>
            <source>Start it in a graphical session, or use 'counterfoil audit' here.</source>
            <translation>Starten Sie es in einer grafischen Sitzung, oder benutzen Sie hier 'counterfoil audit'.</translation>
        </message>
        <message>
            <source>Start one with: ray start --head, or give the address of another.</source>
            <translation>Starten Sie einen mit: ray start --head, oder geben Sie die Adresse eines anderen an.</translation>
        </message>
        <message>
            <source>Start the audit anew, or download the run and give the path of the copy.</source>
            <translation>Beginnen Sie die Prüfung von vorn, oder laden Sie den Lauf herunter und geben Sie den Pfad der Kopie an.</translation>
        </message>
        <message>
            <source>Start the audit anew, or give the file or folder of its progress.</source>
            <translation>Beginnen Sie die Prüfung neu, oder geben Sie an, wo er liegt.</translation>
        </message>
        <message>
            <source>Start the audit anew, without --resume.</source>
            <translation>Beginnen Sie die Prüfung neu, ohne --resume.</translation>
        </message>
        <message>
            <source>Step {0} came out different from the trainer's, but the audit was stopped before a second replay of it could confirm this machine's result. Audit the run again.</source>
            <translation>Schritt {0} kam anders heraus als beim Trainer, aber die Prüfung wurde abgebrochen, bevor eine zweite Nachrechnung das Ergebnis dieses Rechners bestätigen konnte. Prüfen Sie den Lauf noch einmal.</translation>
        </message>
        <message>
            <source>Step {0} came out different from the trainer's, but this machine does not give its own result again when it computes products in another form and sums in another order, although every result is defined: its arithmetic is off. Nobody is accused; adjudicate on another machine.</source>
            <translation>Schritt {0} kam anders heraus als beim Trainer, aber dieser Rechner liefert sein eigenes Ergebnis nicht wieder, wenn er Produkte in anderer Form und Summen in anderer Reihenfolge rechnet, obwohl jedes Ergebnis festgelegt ist: Seine Arithmetik ist falsch. Niemandem wird etwas vorgeworfen; urteilen Sie auf einem anderen Rechner.</translation>
        </message>
        <message>
            <source>Step {0} came out different from the trainer's, but this machine does not give its own result again when it computes products in another form and sums in another order, although every result is defined: its arithmetic is off. Nobody is accused; replay the run on another machine.</source>
            <translation>Schritt {0} kam anders heraus als beim Trainer, aber dieser Rechner liefert sein eigenes Ergebnis nicht wieder, wenn er Produkte in anderer Form und Summen in anderer Reihenfolge rechnet, obwohl jedes Ergebnis festgelegt ist: Seine Arithmetik ist falsch. Niemandem wird etwas vorgeworfen; rechnen Sie den Lauf auf einem anderen Rechner nach.</translation>
        </message>
        <message>
            <source>Step {0} came out different from the trainer's, but this machine does not give its own result again when reductions run in another order: its arithmetic lies outside the margin. Nobody is accused; adjudicate on another machine.</source>
            <translation>Schritt {0} kam anders heraus als beim Trainer, aber dieser Rechner liefert sein eigenes Ergebnis nicht wieder, wenn in anderer Reihenfolge summiert wird: Seine Arithmetik liegt außerhalb der Toleranz. Niemandem wird etwas vorgeworfen; urteilen Sie auf einem anderen Rechner.</translation>
        </message>
        <message>
            <source>Step {0} came out different from the trainer's, but this machine does not give its own result again when reductions run in another order: its arithmetic lies outside the margin. Nobody is accused; replay the run on another machine.</source>
            <translation>Schritt {0} kam anders heraus als beim Trainer, aber dieser Rechner liefert sein eigenes Ergebnis nicht wieder, wenn in anderer Reihenfolge summiert wird: Seine Arithmetik liegt außerhalb der Toleranz. Niemandem wird etwas vorgeworfen; rechnen Sie den Lauf auf einem anderen Rechner nach.</translation>
        </message>
        <message>
            <source>Step {0} came out different from the trainer's.</source>
            <translation>Schritt {0} kam anders heraus als beim Trainer.</translation>
        </message>
        <message>
            <source>Step {0} came out different from the trainer's. {1}</source>
            <translation>Schritt {0} kam anders heraus als beim Trainer. {1}</translation>
        </message>
        <message>
            <source>Step {0} cannot be replayed, although the trainer recorded it. {1}</source>
            <translation>Schritt {0} kann nicht nachgerechnet werden, obwohl der Trainer ihn aufgezeichnet hat. {1}</translation>
        </message>
        <message>
            <source>Step {0} gives another result than was recorded, so the recording cannot go on here.</source>
            <translation>Schritt {0} gibt ein anderes Ergebnis als aufgezeichnet; die Aufzeichnung kann hier also nicht weitergehen.</translation>
        </message>
        <message>
            <source>Step {0} has the trainer's Merkle leaf, but the log has {1} contradictions and {2} omissions, which an honest run on sound hardware does not have.</source>
            <translation>Schritt {0} hat das Merkle-Blatt des Trainers, aber das Protokoll hat {1} Widersprüche und {2} Auslassungen, die ein ehrlicher Lauf auf einwandfreier Hardware nicht hat.</translation>
        </message>
        <message>
            <source>Step {0} is not what was ordered: replayed from {1}, it gives other values than the trainer signed (in {2}).</source>
            <translation>Schritt {0} ist nicht der bestellte: Von {1} aus nachgerechnet ergibt er andere Werte, als der Trainer unterschrieben hat (in {2}).</translation>
        </message>
        <message>
            <source>Step {0} of {1} cannot be decided.</source>
            <translation>Schritt {0} von {1} lässt sich nicht entscheiden.</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>Schritte</translation>
        </message>
        <message>
            <source>Steps before it differ too.</source>
            <translation>Auch Schritte davor weichen ab.</translation>
        </message>
        <message>
            <source>Steps over which the learning rate rises.</source>
            <translation>Schritte, über die die Lernrate steigt.</translation>
        </message>
        <message>
            <source>Steps that could not be judged for it: {0}.</source>
            <translation>Schritte, die deshalb nicht beurteilt werden konnten: {0}.</translation>
        </message>
        <message>
            <source>Steps to measure, from the first.</source>
            <translation>Schritte, die gemessen werden, vom ersten an.</translation>
        </message>
        <message>
            <source>Stopped; nothing was concluded.</source>
            <translation>Angehalten; es wurde nichts geschlossen.</translation>
        </message>
        <message>
            <source>Stopped; the first step is kept in {0}.</source>
            <translation>Angehalten; der erste Schritt bleibt in {0}.</translation>
        </message>
        <message>
            <source>Stopped; the first {0} steps are kept in {1}.</source>
            <translation>Angehalten; die ersten {0} Schritte bleiben in {1}.</translation>
        </message>
        <message>
            <source>Store the state every so many steps: several machines can replay then, or a sample be drawn.</source>
            <translation>Den Zustand alle so viele Schritte speichern: Dann können mehrere Maschinen wiederholen, oder eine Stichprobe kann gezogen werden.</translation>
        </message>
        <message>
            <source>Store the state every so many steps; a multiple of --commit-every.</source>
            <translation>Den Zustand alle so viele Schritte speichern; ein Vielfaches von --commit-every.</translation>
        </message>
        <message>
            <source>Sum over fewer elements at once, for instance over smaller batches.</source>
            <translation>Summieren Sie über weniger Elemente auf einmal, etwa über kleinere Batches.</translation>
        </message>
        <message>
            <source>Supported are {0}.</source>
            <translation>Unterstützt werden {0}.</translation>
        </message>
        <message>
            <source>System</source>
            <translation>System</translation>
        </message>
        <message>
            <source>Take an earlier checkpoint, or replay the last steps.</source>
            <translation>Nehmen Sie einen früheren gespeicherten Zustand, oder rechnen Sie die letzten Schritte nach.</translation>
        </message>
        <message>
            <source>Take in the newest list again.</source>
            <translation>Nehmen Sie die neueste Liste noch einmal auf.</translation>
        </message>
        <message>
            <source>Take it for no one's key, and ask whoever gave it to you for another.</source>
            <translation>Nehmen Sie ihn als niemandes Schlüssel, und bitten Sie den, der ihn Ihnen gab, um einen anderen.</translation>
        </message>
        <message>
            <source>Take it in again, or remove it if you know what it said.</source>
            <translation>Nehmen Sie es erneut auf, oder entfernen Sie es, wenn Sie wissen, was darin stand.</translation>
        </message>
        <message>
            <source>Take it out of the folder, or name it as unused (--unused) if nobody loads it.</source>
            <translation>Nehmen Sie die Datei aus dem Ordner, oder nennen Sie sie als unbenutzt (--unused), wenn niemand sie lädt.</translation>
        </message>
        <message>
            <source>Take no name from it, or give the root of an authority that you trust.</source>
            <translation>Entnehmen Sie ihm keinen Namen, oder geben Sie die Wurzel einer Zertifizierungsstelle an, der Sie vertrauen.</translation>
        </message>
        <message>
            <source>Take no name from it.</source>
            <translation>Entnehmen Sie ihm keinen Namen.</translation>
        </message>
        <message>
            <source>Take statement and signature out of the verdict, and build the bytes that were signed (DSSE):</source>
            <translation>Aussage und Unterschrift aus dem Urteil nehmen, und die unterschriebenen Bytes zusammensetzen (DSSE):</translation>
        </message>
        <message>
            <source>Take the tree heads from where the trainer published them, or audit without them.</source>
            <translation>Nehmen Sie die Baumköpfe von dort, wo der Trainer sie veröffentlicht hat, oder prüfen Sie ohne sie.</translation>
        </message>
        <message>
            <source>Take the tree heads from where the trainer published them.</source>
            <translation>Nehmen Sie die Baumköpfe von dort, wo der Trainer sie veröffentlicht hat.</translation>
        </message>
        <message>
            <source>Take the tree heads of this run.</source>
            <translation>Nehmen Sie die Baumköpfe dieses Laufs.</translation>
        </message>
        <message>
            <source>Temporary files</source>
            <translation>Temporäre Dateien</translation>
        </message>
        <message>
            <source>Tensors with values that are infinite, since the smaller dtype ends before them: {0}.</source>
            <translation>Tensoren mit unendlichen Werten, weil der kleinere Typ vor ihnen endet: {0}.</translation>
        </message>
        <message>
            <source>That is the largest group that agrees: a majority proves nothing.</source>
            <translation>Das ist die größte Gruppe, die übereinstimmt: Eine Mehrheit beweist nichts.</translation>
        </message>
        <message>
            <source>That is the trainer's own key: client and trainer are one.</source>
            <translation>Das ist der eigene Schlüssel des Trainers: Auftraggeber und Trainer sind eins.</translation>
        </message>
        <message>
            <source>That may be a defect, damage, or a lie about how the step was computed.</source>
            <translation>Das kann ein Fehler sein, ein Schaden oder eine Lüge darüber, wie der Schritt berechnet wurde.</translation>
        </message>
        <message>
            <source>The B-tree of the group {0} does not have as many records as it says.</source>
            <translation>Der B-Baum der Gruppe {0} hat nicht so viele Einträge, wie er angibt.</translation>
        </message>
        <message>
            <source>The B-tree of the group {0} has a node of {1} records.</source>
            <translation>Der B-Baum der Gruppe {0} hat einen Knoten mit {1} Einträgen.</translation>
        </message>
        <message>
            <source>The B-tree of the group {0} has settings that no bundle has.</source>
            <translation>Der B-Baum der Gruppe {0} hat Einstellungen, die kein Bündel hat.</translation>
        </message>
        <message>
            <source>The B-tree of the group {0} is damaged: a node has the wrong mark.</source>
            <translation>Der B-Baum der Gruppe {0} ist beschädigt: Ein Knoten hat die falsche Kennung.</translation>
        </message>
        <message>
            <source>The B-tree of the group {0} is damaged: a record names no member.</source>
            <translation>Der B-Baum der Gruppe {0} ist beschädigt: Ein Eintrag nennt kein Mitglied.</translation>
        </message>
        <message>
            <source>The HDF5 superblock has settings that no bundle has.</source>
            <translation>Der HDF5-Superblock hat Einstellungen, die kein Bündel hat.</translation>
        </message>
        <message>
            <source>The PIN of the token {0} is locked after wrong ones.</source>
            <translation>Die PIN des Tokens {0} ist nach falschen Eingaben gesperrt.</translation>
        </message>
        <message>
            <source>The PIN of the token {0} is wrong.</source>
            <translation>Die PIN des Tokens {0} ist falsch.</translation>
        </message>
        <message>
            <source>The Ray cluster {0} cannot be reached.</source>
            <translation>Der Ray-Verbund {0} ist nicht zu erreichen.</translation>
        </message>
        <message>
            <source>The adapter of {0} has shapes that do not fit it.</source>
            <translation>Der Adapter von {0} hat Formen, die nicht dazu passen.</translation>
        </message>
        <message>
            <source>The adjudication was stopped before it came to an end.</source>
            <translation>Die Entscheidung wurde angehalten, bevor sie zu einem Ende kam.</translation>
        </message>
        <message>
            <source>The adjudication's dispute compares what a capsule does not hold.</source>
            <translation>Der Streitfall der Entscheidung vergleicht, was eine Kapsel nicht enthält.</translation>
        </message>
        <message>
            <source>The answer, a .json file.</source>
            <translation>Die Antwort, eine .json-Datei.</translation>
        </message>
        <message>
            <source>The arguments by name of an operator {0} of the program are not a record.</source>
            <translation>Die benannten Argumente eines Operators {0} des Programms sind kein Datensatz.</translation>
        </message>
        <message>
            <source>The audit could not read the order of the file, so nothing can be compared.</source>
            <translation>Die Prüfung konnte den Auftrag der Datei nicht lesen; deshalb kann nichts verglichen werden.</translation>
        </message>
        <message>
            <source>The audit was stopped after {0} of {1} steps; all of these match.</source>
            <translation>Die Prüfung wurde nach {0} von {1} Schritten abgebrochen; diese stimmen alle überein.</translation>
        </message>
        <message>
            <source>The audit was stopped before any step was judged.</source>
            <translation>Die Prüfung wurde abgebrochen, bevor ein Schritt beurteilt war.</translation>
        </message>
        <message>
            <source>The auditor's machine failed its self-test.</source>
            <translation>Der Rechner des Prüfers hat seinen Selbsttest nicht bestanden.</translation>
        </message>
        <message>
            <source>The auditor's public key, a .pub.pem file.</source>
            <translation>Der öffentliche Schlüssel des Prüfers, eine .pub.pem-Datei.</translation>
        </message>
        <message>
            <source>The average of the weights, which the order asks for, in place of them.</source>
            <translation>Der Mittelwert der Gewichte, den der Auftrag verlangt, an ihrer Stelle.</translation>
        </message>
        <message>
            <source>The bundle is an order that has not been run.</source>
            <translation>Das Bündel ist ein Auftrag, der nicht ausgeführt wurde.</translation>
        </message>
        <message>
            <source>The bundle stores no state of step {0}.</source>
            <translation>Das Bündel enthält keinen Zustand von Schritt {0}.</translation>
        </message>
        <message>
            <source>The bundle stores {0} checkpoints; its order asks for {1}.</source>
            <translation>Das Bündel enthält {0} Zwischenstände; sein Auftrag verlangt {1}.</translation>
        </message>
        <message>
            <source>The bytes of {0} lie in another file: it may be this array under its own name.</source>
            <translation>Die Bytes von {0} liegen in einer anderen Datei: Es kann dieses Datenfeld unter eigenem Namen sein.</translation>
        </message>
        <message>
            <source>The call that this was for is over.</source>
            <translation>Der Aufruf, zu dem das gehört, ist vorbei.</translation>
        </message>
        <message>
            <source>The capsule disputes step {0}; already the earlier step {1} is wrong.</source>
            <translation>Die Kapsel bestreitet Schritt {0}; schon der frühere Schritt {1} ist falsch.</translation>
        </message>
        <message>
            <source>The capsule does not hold logs and fingerprints of {0} steps.</source>
            <translation>Die Kapsel enthält nicht Protokolle und Fingerabdrücke von {0} Schritten.</translation>
        </message>
        <message>
            <source>The capsule does not hold the records of the {0} shares of its step.</source>
            <translation>Die Kapsel enthält nicht die Einträge der {0} Anteile ihres Schritts.</translation>
        </message>
        <message>
            <source>The capsule does not hold what the shares of its step give, or what share 0 changes.</source>
            <translation>Die Kapsel enthält nicht, was die Anteile ihres Schritts ergeben, oder nicht, was Anteil 0 ändert.</translation>
        </message>
        <message>
            <source>The capsule does not prove that its leaf of step {0} belongs to the signed run.</source>
            <translation>Die Kapsel beweist nicht, dass ihr Blatt von Schritt {0} zum unterschriebenen Lauf gehört.</translation>
        </message>
        <message>
            <source>The capsule does not prove that its rows of {0} are those of the order.</source>
            <translation>Die Kapsel beweist nicht, dass ihre Zeilen die des Auftrags sind: {0}.</translation>
        </message>
        <message>
            <source>The capsule is sealed for judges (age-encryption.org/v1). One of them opens it with the private key, here judge.key:</source>
            <translation>Die Kapsel ist für Schiedsrichter versiegelt (age-encryption.org/v1). Einer von ihnen öffnet sie mit dem privaten Schlüssel, hier judge.key:</translation>
        </message>
        <message>
            <source>The capsule {0} is about step {1} of the run {2}, and the {3} is about something else.</source>
            <translation>Die Kapsel {0} handelt von Schritt {1} des Laufs {2}, und das {3} von etwas anderem.</translation>
        </message>
        <message>
            <source>The capsule's data arrays are not those that its program reads.</source>
            <translation>Die Datenfelder der Kapsel sind nicht die, die ihr Programm liest.</translation>
        </message>
        <message>
            <source>The capsule's fingerprints are not those of its program.</source>
            <translation>Die Fingerabdrücke der Kapsel sind nicht die ihres Programms.</translation>
        </message>
        <message>
            <source>The capsule's fingerprints or loss of step {0} are not those that the run commits to.</source>
            <translation>Fingerabdrücke oder Verlust von Schritt {0} in der Kapsel sind nicht die, auf die sich der Lauf festlegt.</translation>
        </message>
        <message>
            <source>The capsule's log of step {0} is not the one that the run commits to.</source>
            <translation>Das Protokoll von Schritt {0} in der Kapsel ist nicht das, auf das sich der Lauf festlegt.</translation>
        </message>
        <message>
            <source>The capsule's tensor {0} of share {1} is not the one that was signed.</source>
            <translation>Der Tensor {0} von Anteil {1} in der Kapsel ist nicht der, der unterschrieben wurde.</translation>
        </message>
        <message>
            <source>The certificate is about another key than {0}, which signed.</source>
            <translation>Das Zertifikat gilt einem anderen Schlüssel als {0}, der signiert hat.</translation>
        </message>
        <message>
            <source>The certificate of the key is itself given as a root: nobody else answers for it.</source>
            <translation>Das Zertifikat des Schlüssels ist selbst als Wurzel angegeben: Niemand sonst steht dafür ein.</translation>
        </message>
        <message>
            <source>The chain begins with the certificate of the key, and each was issued by the next.</source>
            <translation>Die Kette beginnt mit dem Zertifikat des Schlüssels, und jedes wurde vom nächsten ausgestellt.</translation>
        </message>
        <message>
            <source>The chunk proof of tensor {0} speaks of another tensor.</source>
            <translation>Der Stückbeweis des Tensors {0} spricht von einem anderen Tensor.</translation>
        </message>
        <message>
            <source>The chunks of tensor {0} are not those that hold the rows that are asked for.</source>
            <translation>Die Stücke des Tensors {0} sind nicht die mit den verlangten Zeilen.</translation>
        </message>
        <message>
            <source>The client's key that signed the order</source>
            <translation>Der Schlüssel des Auftraggebers, der den Auftrag unterschrieben hat,</translation>
        </message>
        <message>
            <source>The client's key that signed the order was revoked, so it is open whether this is what the client ordered.</source>
            <translation>Der Schlüssel des Auftraggebers, der den Auftrag signiert hat, wurde widerrufen; es ist offen, ob dies der Auftrag ist.</translation>
        </message>
        <message>
            <source>The client's key {0} did not sign it.</source>
            <translation>Der Schlüssel {0} des Auftraggebers hat ihn nicht unterschrieben.</translation>
        </message>
        <message>
            <source>The cluster has no {0} for a worker.</source>
            <translation>Der Verbund hat keine {0} für einen Helfer.</translation>
        </message>
        <message>
            <source>The code that was ordered may have written into its pipe. Look at what it does.</source>
            <translation>Der bestellte Code hat vielleicht in seine Pipe geschrieben. Sehen Sie nach, was er tut.</translation>
        </message>
        <message>
            <source>The combination of the shares in the capsule is not the one that was signed.</source>
            <translation>Die Zusammenführung der Anteile in der Kapsel ist nicht die, die unterschrieben wurde.</translation>
        </message>
        <message>
            <source>The command line works without a display. For the window: pip install 'counterfoil[gui]'</source>
            <translation>Die Befehlszeile braucht keine Anzeige. Für das Fenster: pip install 'counterfoil[gui]'</translation>
        </message>
        <message>
            <source>The command line works without it. For the window: pip install 'counterfoil[gui]'</source>
            <translation>Die Befehlszeile kommt ohne aus. Für das Fenster: pip install 'counterfoil[gui]'</translation>
        </message>
        <message>
            <source>The compute dtype {0} is not supported; float64 and float32 are.</source>
            <translation>Der Rechentyp {0} wird nicht unterstützt; float64 und float32 werden es.</translation>
        </message>
        <message>
            <source>The connection to the engine on {0} ended ({1}). Nothing was concluded.</source>
            <translation>Die Verbindung zum Rechner {0} endete ({1}). Nichts wurde geschlossen.</translation>
        </message>
        <message>
            <source>The consistency proof is longer than the Merkle tree is high.</source>
            <translation>Der Konsistenzbeweis ist länger, als der Merkle-Baum hoch ist.</translation>
        </message>
        <message>
            <source>The consistency proof is shorter than the Merkle tree is high.</source>
            <translation>Der Konsistenzbeweis ist kürzer, als der Merkle-Baum hoch ist.</translation>
        </message>
        <message>
            <source>The consistency proof leads to another new root.</source>
            <translation>Der Konsistenzbeweis führt zu einer anderen neuen Wurzel.</translation>
        </message>
        <message>
            <source>The consistency proof leads to another old root.</source>
            <translation>Der Konsistenzbeweis führt zu einer anderen alten Wurzel.</translation>
        </message>
        <message>
            <source>The data array {0} in {1} differs from what the order commits to.</source>
            <translation>Das Datenfeld {0} in {1} ist nicht das, auf das sich der Auftrag festlegt.</translation>
        </message>
        <message>
            <source>The data array {0} in {1} is {2} of shape {3}; the order says {4} of shape {5}.</source>
            <translation>Das Datenfeld {0} in {1} ist {2} mit der Form {3}; der Auftrag sagt {4} mit der Form {5}.</translation>
        </message>
        <message>
            <source>The data file (.cfdata), for an order that keeps its data outside. It is checked against the order.</source>
            <translation>Die Datendatei (.cfdata), für einen Auftrag, der seine Daten außerhalb hat. Sie wird mit dem Auftrag verglichen.</translation>
        </message>
        <message>
            <source>The data file is checked.</source>
            <translation>Die Datendatei wird geprüft.</translation>
        </message>
        <message>
            <source>The data file {0} cannot be used. {1}</source>
            <translation>Die Datendatei {0} ist nicht benutzbar. {1}</translation>
        </message>
        <message>
            <source>The data file {0} lacks the array {1}, which the order names.</source>
            <translation>In der Datendatei {0} fehlt das Feld {1}, das der Auftrag nennt.</translation>
        </message>
        <message>
            <source>The data file {0}.</source>
            <translation>Die Datendatei {0}.</translation>
        </message>
        <message>
            <source>The data root of the order is not the root over its data arrays.</source>
            <translation>Die Datenwurzel des Auftrags ist nicht die Wurzel über seinen Datenfeldern.</translation>
        </message>
        <message>
            <source>The device failed in the middle of a computation.</source>
            <translation>Das Gerät hat mitten in einer Berechnung versagt.</translation>
        </message>
        <message>
            <source>The device {0} is not supported.</source>
            <translation>Das Gerät {0} wird nicht unterstützt.</translation>
        </message>
        <message>
            <source>The digests of what the shares give in the capsule are not those that were signed.</source>
            <translation>Die Digests dessen, was die Anteile ergeben, sind in der Kapsel nicht die, die unterschrieben wurden.</translation>
        </message>
        <message>
            <source>The dispute capsule is not the one that it should be.</source>
            <translation>Die Streitfallkapsel ist nicht die, die sie sein sollte.</translation>
        </message>
        <message>
            <source>The dispute capsule that was kept with the progress cannot be read.</source>
            <translation>Die Streitfallkapsel, die mit dem Fortschritt aufbewahrt wurde, kann nicht gelesen werden.</translation>
        </message>
        <message>
            <source>The dispute capsule that was kept with the progress is another one.</source>
            <translation>Die Streitfallkapsel, die mit dem Fortschritt aufbewahrt wurde, ist eine andere.</translation>
        </message>
        <message>
            <source>The dispute needs {0}; the other rows lie in the same chunks of 16 KiB, which are proven whole.</source>
            <translation>Der Streit braucht {0}; die anderen Zeilen liegen in denselben Blöcken von 16 KiB, die als Ganze bewiesen werden.</translation>
        </message>
        <message>
            <source>The elements of the verdict's finding do not bear out who is right.</source>
            <translation>Die Elemente im Befund des Urteils belegen nicht, wer recht hat.</translation>
        </message>
        <message>
            <source>The energy is no number of kilowatt-hours.</source>
            <translation>Die Energie ist keine Zahl von Kilowattstunden.</translation>
        </message>
        <message>
            <source>The engine's process cannot be started: {0}.</source>
            <translation>Der Rechenprozess lässt sich nicht starten: {0}.</translation>
        </message>
        <message>
            <source>The engine's process {0} before its work was done. Nothing was concluded.</source>
            <translation>Der Rechenprozess {0}, bevor seine Arbeit getan war. Es wurde nichts geschlossen.</translation>
        </message>
        <message>
            <source>The entries of rounding site {0} of a log are {1}.</source>
            <translation>Die Einträge der Rundungsstelle {0} eines Protokolls sind {1}.</translation>
        </message>
        <message>
            <source>The envelope has {0} signatures; it must have one.</source>
            <translation>Der Umschlag hat {0} Unterschriften; er muss eine haben.</translation>
        </message>
        <message>
            <source>The environment variable {0} names no open file descriptor.</source>
            <translation>Die Umgebungsvariable {0} nennt keinen offenen Dateideskriptor.</translation>
        </message>
        <message>
            <source>The evaluation has no score of this name.</source>
            <translation>Die Auswertung hat kein Ergebnis dieses Namens.</translation>
        </message>
        <message>
            <source>The evidence for a capsule of this dispute is no longer in memory.</source>
            <translation>Was eine Kapsel dieses Streitfalls enthielte, ist nicht mehr vorhanden.</translation>
        </message>
        <message>
            <source>The exact values of {0} element{1} lie so close to a midpoint between two grid points that conforming hardware may round them to either side; rounded to the other side there, the step comes out as the trainer signed it. The calibrated margin was too small for one of the two machines. Nobody is accused; order the job with proven margins.</source>
            <translation>Die exakten Werte (Anzahl der Elemente: {0}) liegen so nahe an einer Mitte zwischen zwei Rasterpunkten, dass normgerechte Hardware sie nach beiden Seiten runden darf; zur anderen Seite gerundet kommt der Schritt so heraus, wie der Trainer ihn unterschrieben hat. Die kalibrierte Toleranz war für einen der beiden Rechner zu klein. Niemandem wird etwas vorgeworfen; bestellen Sie mit bewiesenen Toleranzen.</translation>
        </message>
        <message>
            <source>The exponents or the sums in the capsule are not those that were signed.</source>
            <translation>Die Exponenten oder die Summen in der Kapsel sind nicht die, die unterschrieben wurden.</translation>
        </message>
        <message>
            <source>The facts of the run cannot be signed: one of them is longer or larger than a verdict has room for.</source>
            <translation>Die Angaben zum Lauf lassen sich nicht unterschreiben: Eine davon ist länger oder größer, als ein Urteil Platz hat.</translation>
        </message>
        <message>
            <source>The fall of the rule to stop early, {0}, is not in canonical form.</source>
            <translation>Der Rückgang in der Regel zum vorzeitigen Ende, {0}, ist nicht in kanonischer Form.</translation>
        </message>
        <message>
            <source>The field 'rows' of the precision is there and not true.</source>
            <translation>Das Feld 'rows' der Genauigkeit ist da und nicht true.</translation>
        </message>
        <message>
            <source>The field {0} of the {1} has {2} characters; {3} are allowed.</source>
            <translation>Das Feld {0} ({1}) hat {2} Zeichen; erlaubt sind {3}.</translation>
        </message>
        <message>
            <source>The field {0} of the {1} is longer than a chunk.</source>
            <translation>Das Feld {0} im {1} ist länger als ein Block.</translation>
        </message>
        <message>
            <source>The field {0} of the {1} is not a time.</source>
            <translation>Das Feld {0} ({1}) ist keine Zeit.</translation>
        </message>
        <message>
            <source>The field {0} of the {1} is not base64.</source>
            <translation>Das Feld {0} im {1} ist kein Base64.</translation>
        </message>
        <message>
            <source>The field {0} of the {1} is {2}; it must lie in {3} to {4}.</source>
            <translation>Das Feld {0} ({1}) ist {2}; es muss in {3} bis {4} liegen.</translation>
        </message>
        <message>
            <source>The field {0} of the {1} should be of type {2}.</source>
            <translation>Das Feld {0} ({1}) sollte vom Typ {2} sein.</translation>
        </message>
        <message>
            <source>The file became shorter while it was read.</source>
            <translation>Die Datei wurde kürzer, während sie gelesen wurde.</translation>
        </message>
        <message>
            <source>The file declares {0} bytes of zeros that it does not hold; one of its size may leave out {1}.</source>
            <translation>Die Datei gibt {0} Bytes Nullen an, die sie nicht enthält; eine von ihrer Größe darf {1} weglassen.</translation>
        </message>
        <message>
            <source>The file has an HDF5 superblock of version {0}; a {1}'s is 2 or 3.</source>
            <translation>Die Datei hat einen HDF5-Superblock der Version {0}; bei dieser Art ({1}) ist er 2 oder 3.</translation>
        </message>
        <message>
            <source>The file has {0} bytes; it says that it has {1}.</source>
            <translation>Die Datei hat {0} Bytes; sie gibt {1} an.</translation>
        </message>
        <message>
            <source>The file holds a client's signature that nobody can rely on. {0}</source>
            <translation>Die Datei enthält die Unterschrift eines Auftraggebers, auf die sich niemand verlassen kann. {0}</translation>
        </message>
        <message>
            <source>The file holds more than {0} objects.</source>
            <translation>Die Datei enthält mehr als {0} Objekte.</translation>
        </message>
        <message>
            <source>The file holds no settings that can be used: {0}.</source>
            <translation>Die Datei enthält keine Einstellungen, die sich verwenden lassen: {0}.</translation>
        </message>
        <message>
            <source>The file is a Counterfoil {0}, where a {1} is needed.</source>
            <translation>Die Datei hat die falsche Art ({0}); gebraucht wird {1}.</translation>
        </message>
        <message>
            <source>The file is a well-formed bundle</source>
            <translation>Die Datei ist ein wohlgeformtes Bündel</translation>
        </message>
        <message>
            <source>The file is an order that nobody has run, so there is nothing to audit.</source>
            <translation>Die Datei ist ein Auftrag, den niemand ausgeführt hat; es gibt also nichts zu prüfen.</translation>
        </message>
        <message>
            <source>The file is an order that nobody has run.</source>
            <translation>Die Datei ist ein Auftrag, den niemand ausgeführt hat.</translation>
        </message>
        <message>
            <source>The file is damaged: a block of an object header lacks its mark.</source>
            <translation>Die Datei ist beschädigt: Einem Block eines Objektkopfs fehlt die Kennung.</translation>
        </message>
        <message>
            <source>The file is damaged: a checksum of its structure does not hold.</source>
            <translation>Die Datei ist beschädigt: Eine Prüfsumme ihrer Struktur stimmt nicht.</translation>
        </message>
        <message>
            <source>The file is damaged: a name does not have the hash by which it is found.</source>
            <translation>Die Datei ist beschädigt: Ein Name hat nicht den Hash, unter dem er gefunden wird.</translation>
        </message>
        <message>
            <source>The file is not a Counterfoil {0}: it is not an HDF5 file.</source>
            <translation>Die Datei ist keine Counterfoil-Datei ({0}): Sie ist keine HDF5-Datei.</translation>
        </message>
        <message>
            <source>The file is not a Counterfoil {0}: it lacks the mark of one.</source>
            <translation>Die Datei ist keine Counterfoil-Datei ({0}): Ihr fehlt das Kennzeichen.</translation>
        </message>
        <message>
            <source>The file lacks {0}.</source>
            <translation>In der Datei fehlt {0}.</translation>
        </message>
        <message>
            <source>The file of row proofs is not canonical JSON.</source>
            <translation>Die Datei mit Zeilenbeweisen ist kein kanonisches JSON.</translation>
        </message>
        <message>
            <source>The file of weights with which the data were made; its SHA-256 is named.</source>
            <translation>Die Datei der Gewichte, mit denen die Daten gemacht wurden; ihr SHA-256 wird genannt.</translation>
        </message>
        <message>
            <source>The file says that the rounding log of step {0} has {1} entries, and the log itself, which the trainer signed, has {2}. Nobody signed that number: the file was altered or damaged, or was not recorded by Counterfoil.</source>
            <translation>Die Datei sagt, das Rundungsprotokoll von Schritt {0} habe {1} Einträge, und das Protokoll selbst, das der Trainer unterschrieben hat, hat {2}. Diese Zahl hat niemand unterschrieben: Die Datei wurde verändert oder beschädigt oder nicht von Counterfoil aufgezeichnet.</translation>
        </message>
        <message>
            <source>The file to write.</source>
            <translation>Die Datei, die geschrieben wird.</translation>
        </message>
        <message>
            <source>The file was damaged or altered after it was signed, or the trainer signed another state than it stored.</source>
            <translation>Die Datei wurde beschädigt oder verändert, nachdem sie unterschrieben war, oder der Trainer hat einen anderen Zustand unterschrieben als gespeichert.</translation>
        </message>
        <message>
            <source>The file was made for another order than the client's, so its contents are not compared.</source>
            <translation>Die Datei wurde für einen anderen Auftrag als den des Auftraggebers gemacht; deshalb wird ihr Inhalt nicht verglichen.</translation>
        </message>
        <message>
            <source>The file was made for the order {0}; the client's order is {1}.</source>
            <translation>Die Datei wurde für den Auftrag {0} gemacht; der Auftrag des Auftraggebers ist {1}.</translation>
        </message>
        <message>
            <source>The file was not closed by the program that wrote it.</source>
            <translation>Die Datei wurde von dem Programm, das sie schrieb, nicht geschlossen.</translation>
        </message>
        <message>
            <source>The file {0} cannot be read.</source>
            <translation>Die Datei {0} kann nicht gelesen werden.</translation>
        </message>
        <message>
            <source>The file {0} changed while it was read: {1} is not what it was before.</source>
            <translation>Die Datei {0} wurde verändert, während sie gelesen wurde. Nicht mehr wie zuvor: {1}.</translation>
        </message>
        <message>
            <source>The file {0} holds no tree head, so it says nothing about the run.</source>
            <translation>Die Datei {0} enthält keinen Baumkopf und sagt daher nichts über den Lauf.</translation>
        </message>
        <message>
            <source>The file {0} holds other tree heads than those of the recording that is gone on with.</source>
            <translation>Die Datei {0} enthält andere Baumköpfe als die der Aufzeichnung, die fortgesetzt wird.</translation>
        </message>
        <message>
            <source>The file's groups are nested more than {0} deep.</source>
            <translation>Die Gruppen der Datei sind tiefer als {0} Ebenen verschachtelt.</translation>
        </message>
        <message>
            <source>The file's large groups hold more objects than the {0} that are still allowed.</source>
            <translation>Die großen Gruppen der Datei enthalten mehr Objekte als die {0}, die noch erlaubt sind.</translation>
        </message>
        <message>
            <source>The file's structure names the byte {0}, which lies outside the file.</source>
            <translation>Die Struktur der Datei nennt das Byte {0}, das außerhalb der Datei liegt.</translation>
        </message>
        <message>
            <source>The fingerprint that the trainer signed for the random numbers of step {0} at the operator {1} is not that of those that the order's seed gives. Each of them is defined by seed, step and place, the same on every machine.</source>
            <translation>Der Fingerabdruck, den der Trainer für die Zufallszahlen von Schritt {0} beim Operator {1} unterschrieben hat, ist nicht der von denen, die der Startwert des Auftrags ergibt. Jede von ihnen ist durch Startwert, Schritt und Stelle bestimmt, auf jedem Rechner gleich.</translation>
        </message>
        <message>
            <source>The fingerprint that the trainer signed for the rows of {0} at step {1} is not that of the ordered ones. The order commits to its data and to the rows of every step, so no arithmetic is needed to tell.</source>
            <translation>Der Fingerabdruck, den der Trainer für die Zeilen von {0} in Schritt {1} unterschrieben hat, ist nicht der der bestellten. Der Auftrag legt seine Daten und die Zeilen jedes Schritts fest; um das zu sehen, ist keine Arithmetik nötig.</translation>
        </message>
        <message>
            <source>The fingerprints of all that reaches the operator agree, so the trainer's inputs are most likely the same.</source>
            <translation>Die Fingerabdrücke von allem, was den Operator erreicht, stimmen überein; also sind die Eingaben des Trainers höchstwahrscheinlich dieselben.</translation>
        </message>
        <message>
            <source>The fingerprints that the runs recorded of what it reads differ: {0}.</source>
            <translation>Die Fingerabdrücke, die die Läufe von dem aufzeichneten, was er liest, sind verschieden: {0}.</translation>
        </message>
        <message>
            <source>The first audit compiles the rest. To have it done now: counterfoil doctor --compile</source>
            <translation>Der erste Audit übersetzt den Rest. Um es jetzt zu tun: counterfoil doctor --compile</translation>
        </message>
        <message>
            <source>The first operator whose fingerprint differs is {0} of {1}, {2}.</source>
            <translation>Der erste Operator mit abweichendem Fingerabdruck ist {0} von {1}, {2}.</translation>
        </message>
        <message>
            <source>The first part of it that differs is {0}.</source>
            <translation>Der erste Teil davon, der abweicht, ist {0}.</translation>
        </message>
        <message>
            <source>The first step that differs is {0} of {1}: {2}.</source>
            <translation>Der erste Schritt, der abweicht, ist {0} von {1}: {2}.</translation>
        </message>
        <message>
            <source>The floor of {0} segments holds: a good past may be saved up for one bad run.</source>
            <translation>Es bleibt bei mindestens {0} Segmenten: Eine gute Vergangenheit kann für einen einzigen schlechten Lauf angespart sein.</translation>
        </message>
        <message>
            <source>The folder for model.safetensors.</source>
            <translation>Der Ordner für model.safetensors.</translation>
        </message>
        <message>
            <source>The folder of the verdict cannot be searched for statements about it: {0}.</source>
            <translation>Der Ordner des Urteils lässt sich nicht nach Erklärungen dazu durchsuchen: {0}.</translation>
        </message>
        <message>
            <source>The folder of the verdict holds {0} such files; only the first {1} were looked at for statements about it.</source>
            <translation>Der Ordner des Urteils enthält {0} solche Dateien; nur in den ersten {1} wurde nach Erklärungen dazu gesucht.</translation>
        </message>
        <message>
            <source>The folder to write into.</source>
            <translation>Der Ordner, in den geschrieben wird.</translation>
        </message>
        <message>
            <source>The folder {0} cannot be looked through: {1}.</source>
            <translation>Der Ordner {0} lässt sich nicht durchsuchen: {1}.</translation>
        </message>
        <message>
            <source>The folder {0} cannot be made: {1}.</source>
            <translation>Der Ordner {0} lässt sich nicht anlegen: {1}.</translation>
        </message>
        <message>
            <source>The folder {0} cannot be read.</source>
            <translation>Der Ordner {0} kann nicht gelesen werden.</translation>
        </message>
        <message>
            <source>The folder {0} cannot be read: {1}.</source>
            <translation>Der Ordner {0} kann nicht gelesen werden: {1}.</translation>
        </message>
        <message>
            <source>The folder {0} for results cannot be made: {1}.</source>
            <translation>Der Ordner {0} für Ergebnisse kann nicht angelegt werden: {1}.</translation>
        </message>
        <message>
            <source>The folder {0} for the key cannot be made: {1}.</source>
            <translation>Der Ordner {0} für den Schlüssel kann nicht angelegt werden: {1}.</translation>
        </message>
        <message>
            <source>The folder {0} for the sample cannot be made: {1}.</source>
            <translation>Der Ordner {0} für das Beispiel lässt sich nicht anlegen: {1}.</translation>
        </message>
        <message>
            <source>The folder {0} holds more than {1} files that could be verdicts.</source>
            <translation>Der Ordner {0} enthält mehr als {1} Dateien, die Urteile sein könnten.</translation>
        </message>
        <message>
            <source>The folder {0} holds more than {1} statements.</source>
            <translation>Der Ordner {0} enthält mehr als {1} Erklärungen.</translation>
        </message>
        <message>
            <source>The folder {0} holds {1} safetensors files.</source>
            <translation>Anzahl der safetensors-Dateien im Ordner {0}: {1}.</translation>
        </message>
        <message>
            <source>The group {0} has a link of a form that no bundle has.</source>
            <translation>Die Gruppe {0} hat eine Verknüpfung einer Form, die kein Bündel hat.</translation>
        </message>
        <message>
            <source>The group {0} has settings that no bundle has.</source>
            <translation>Die Gruppe {0} hat Einstellungen, die kein Bündel hat.</translation>
        </message>
        <message>
            <source>The group {0} names its members in two places.</source>
            <translation>Die Gruppe {0} nennt ihre Mitglieder an zwei Stellen.</translation>
        </message>
        <message>
            <source>The group {0} tracks the order of its members, or is damaged.</source>
            <translation>Die Gruppe {0} hält die Reihenfolge ihrer Mitglieder fest oder ist beschädigt.</translation>
        </message>
        <message>
            <source>The hardware of the token {0} does not do it.</source>
            <translation>Die Hardware des Tokens {0} führt es nicht aus.</translation>
        </message>
        <message>
            <source>The heap of the group {0} does not fit its B-tree.</source>
            <translation>Der Heap der Gruppe {0} passt nicht zu ihrem B-Baum.</translation>
        </message>
        <message>
            <source>The heap of the group {0} has objects outside its blocks.</source>
            <translation>Der Heap der Gruppe {0} hat Objekte außerhalb seiner Blöcke.</translation>
        </message>
        <message>
            <source>The heap of the group {0} has settings that no bundle has.</source>
            <translation>Der Heap der Gruppe {0} hat Einstellungen, die kein Bündel hat.</translation>
        </message>
        <message>
            <source>The heap of the group {0} is damaged: a block has the wrong mark.</source>
            <translation>Der Heap der Gruppe {0} ist beschädigt: Ein Block hat die falsche Kennung.</translation>
        </message>
        <message>
            <source>The id of the key in hardware, {0}, begins with a zero.</source>
            <translation>Die Nummer des Schlüssels in der Hardware, {0}, beginnt mit einer Null.</translation>
        </message>
        <message>
            <source>The inclusion proof is longer than the Merkle tree is high.</source>
            <translation>Der Einschlussbeweis ist länger, als der Merkle-Baum hoch ist.</translation>
        </message>
        <message>
            <source>The inclusion proof is not as long as the Merkle tree is high.</source>
            <translation>Der Einschlussbeweis ist nicht so lang, wie der Merkle-Baum hoch ist.</translation>
        </message>
        <message>
            <source>The inclusion proof is shorter than the Merkle tree is high.</source>
            <translation>Der Einschlussbeweis ist kürzer, als der Merkle-Baum hoch ist.</translation>
        </message>
        <message>
            <source>The inclusion proof of leaf {0} leads to another root.</source>
            <translation>Der Einschlussbeweis von Blatt {0} führt zu einer anderen Wurzel.</translation>
        </message>
        <message>
            <source>The index {0} is not about these files: it says that the tensor {1} lies in {2}, and it lies in {3}.</source>
            <translation>Das Verzeichnis {0} gilt nicht diesen Dateien: Nach ihm liegt der Tensor {1} in {2}, er liegt aber in {3}.</translation>
        </message>
        <message>
            <source>The integer {0} does not fit a JSON number; write it as a string.</source>
            <translation>Die ganze Zahl {0} passt nicht in eine JSON-Zahl; schreiben Sie sie als Zeichenkette.</translation>
        </message>
        <message>
            <source>The judge makes one with 'counterfoil keygen --sealing judge.key', and hands out judge.pub.</source>
            <translation>Der Schiedsrichter erzeugt einen mit 'counterfoil keygen --sealing judge.key' und gibt judge.pub heraus.</translation>
        </message>
        <message>
            <source>The key in hardware is neither an Ed25519 key nor an ECDSA key on the curve P-256.</source>
            <translation>Der Schlüssel in der Hardware ist weder ein Ed25519-Schlüssel noch ein ECDSA-Schlüssel auf der Kurve P-256.</translation>
        </message>
        <message>
            <source>The key in {0} has no passphrase.</source>
            <translation>Der Schlüssel in {0} hat kein Passwort.</translation>
        </message>
        <message>
            <source>The key in {0} is not an Ed25519 key.</source>
            <translation>Der Schlüssel in {0} ist kein Ed25519-Schlüssel.</translation>
        </message>
        <message>
            <source>The key in {0} needs a passphrase, and there is no terminal to ask on.</source>
            <translation>Der Schlüssel in {0} braucht ein Passwort, und es gibt kein Terminal, um danach zu fragen.</translation>
        </message>
        <message>
            <source>The key in {0} needs its passphrase.</source>
            <translation>Der Schlüssel in {0} braucht sein Passwort.</translation>
        </message>
        <message>
            <source>The key of a party that answers for a share is not 64 hexadecimal digits.</source>
            <translation>Der Schlüssel einer Partei, die für einen Anteil einsteht, besteht nicht aus 64 hexadezimalen Ziffern.</translation>
        </message>
        <message>
            <source>The key of a party that answers for shares of the run</source>
            <translation>Der Schlüssel einer Partei, die für Anteile des Laufs einsteht,</translation>
        </message>
        <message>
            <source>The key that signed it</source>
            <translation>Der Schlüssel, der es unterschrieben hat,</translation>
        </message>
        <message>
            <source>The key that signed the run</source>
            <translation>Der Schlüssel, der den Lauf unterschrieben hat,</translation>
        </message>
        <message>
            <source>The key that signed the run was revoked, so it is open who trained.</source>
            <translation>Der Schlüssel, der den Lauf signiert hat, wurde widerrufen; es ist offen, wer trainiert hat.</translation>
        </message>
        <message>
            <source>The key that signed this is the trainer's own, or that of a party that made shares of the run: nobody can audit what they made themselves, so this shows nothing.</source>
            <translation>Der Schlüssel, der dies unterschrieben hat, ist der des Trainers selbst oder der einer Partei, die Anteile des Laufs gemacht hat: Niemand kann prüfen, was er selbst gemacht hat; dies zeigt also nichts.</translation>
        </message>
        <message>
            <source>The key to hand over is not the one that signed the verdict.</source>
            <translation>Der Schlüssel zum Übergeben ist nicht der, der das Urteil unterschrieben hat.</translation>
        </message>
        <message>
            <source>The key {0} accepted it as its trainer, as it says on {1}.</source>
            <translation>Der Schlüssel {0} hat ihn als sein Trainer angenommen, wie er sagt am {1}.</translation>
        </message>
        <message>
            <source>The key {0} is in the list of keys as one of another kind.</source>
            <translation>Der Schlüssel {0} steht in der Liste der Schlüssel als einer von anderer Art.</translation>
        </message>
        <message>
            <source>The key {0} is not an Ed25519 key: a party that answers for shares needs one.</source>
            <translation>Der Schlüssel {0} ist kein Ed25519-Schlüssel: Wer für Anteile einsteht, braucht einen.</translation>
        </message>
        <message>
            <source>The key {0} of a JSON object is not a string.</source>
            <translation>Der Schlüssel {0} eines JSON-Objekts ist keine Zeichenkette.</translation>
        </message>
        <message>
            <source>The key {0} signed the run itself: a trainer cannot audit itself.</source>
            <translation>Der Schlüssel {0} hat den Lauf selbst unterschrieben: Ein Trainer kann sich nicht selbst prüfen.</translation>
        </message>
        <message>
            <source>The keys in the {0} are not sorted, or one stands there twice.</source>
            <translation>Die Schlüssel sind nicht sortiert, oder einer steht zweimal da ({0}).</translation>
        </message>
        <message>
            <source>The last checkpoint leaves out other tensors than the slots of the state.</source>
            <translation>Der letzte gespeicherte Zustand lässt andere Tensoren aus als die Slots des Zustands.</translation>
        </message>
        <message>
            <source>The last checkpoint leaves out what is no slot of a tensor that it holds.</source>
            <translation>Der letzte gespeicherte Zustand lässt etwas aus, das kein Slot eines Tensors ist, den er enthält.</translation>
        </message>
        <message>
            <source>The last checkpoint leaves out {0}: its order asks for the weights alone.</source>
            <translation>Der letzte gespeicherte Zustand lässt {0} aus: Sein Auftrag verlangt allein die Gewichte.</translation>
        </message>
        <message>
            <source>The leaf index {0} does not lie in a Merkle tree of {1} leaves.</source>
            <translation>Das Blatt Nummer {0} liegt nicht in einem Merkle-Baum mit {1} Blättern.</translation>
        </message>
        <message>
            <source>The leaf of step {0} commits to a state where the order asks for none.</source>
            <translation>Das Blatt von Schritt {0} legt sich auf einen Zustand fest, wo der Auftrag keinen verlangt.</translation>
        </message>
        <message>
            <source>The leaves of the capsule are damaged.</source>
            <translation>Die Blätter der Kapsel sind beschädigt.</translation>
        </message>
        <message>
            <source>The leaves of the capsule are not a list.</source>
            <translation>Die Blätter der Kapsel sind keine Liste.</translation>
        </message>
        <message>
            <source>The leaves of the capsule are not those of neighbouring steps, two or more.</source>
            <translation>Die Blätter der Kapsel sind nicht die von aufeinanderfolgenden Schritten, zwei oder mehr.</translation>
        </message>
        <message>
            <source>The line is too long.</source>
            <translation>Die Zeile ist zu lang.</translation>
        </message>
        <message>
            <source>The list of cases was damaged, or of another version; a new one was begun, and the old one is {0}.</source>
            <translation>Die Liste der Fälle war beschädigt oder aus einer anderen Version; eine neue wurde begonnen, und die alte ist {0}.</translation>
        </message>
        <message>
            <source>The list of cases {0} cannot be read: {1}.</source>
            <translation>Die Liste der Fälle {0} lässt sich nicht lesen: {1}.</translation>
        </message>
        <message>
            <source>The list of cases {0} is damaged: {1}.</source>
            <translation>Die Liste der Fälle {0} ist beschädigt: {1}.</translation>
        </message>
        <message>
            <source>The list of keys is full: it holds {0}.</source>
            <translation>Die Liste der Schlüssel ist voll: Sie enthält {0}.</translation>
        </message>
        <message>
            <source>The list of keys {0} is damaged, so no key is known.</source>
            <translation>Die Liste der Schlüssel {0} ist beschädigt; deshalb ist kein Schlüssel bekannt.</translation>
        </message>
        <message>
            <source>The list of revoked keys {0} is damaged or was exchanged, so no key is known to be revoked.</source>
            <translation>Die Liste widerrufener Schlüssel {0} ist beschädigt oder wurde ausgetauscht; kein Schlüssel gilt deshalb als widerrufen.</translation>
        </message>
        <message>
            <source>The list of revoked keys {0} is damaged or was exchanged: {1}</source>
            <translation>Die Liste widerrufener Schlüssel {0} ist beschädigt oder wurde ausgetauscht: {1}</translation>
        </message>
        <message>
            <source>The list so far, signed with the same key, to go on from.</source>
            <translation>Die bisherige Liste, mit demselben Schlüssel unterschrieben, die fortgesetzt wird.</translation>
        </message>
        <message>
            <source>The log of a step that differs belongs to other values.</source>
            <translation>Das Protokoll eines abweichenden Schritts gehört zu anderen Werten.</translation>
        </message>
        <message>
            <source>The log of a witness.</source>
            <translation>Das Protokoll eines Zeugen.</translation>
        </message>
        <message>
            <source>The loss is infinite or not a number.</source>
            <translation>Der Verlust ist unendlich oder keine Zahl.</translation>
        </message>
        <message>
            <source>The loss of a step record is not a number: {0}.</source>
            <translation>Der Verlust in einem Schritteintrag ist keine Zahl: {0}.</translation>
        </message>
        <message>
            <source>The loss of a step record, {0}, is not in canonical form.</source>
            <translation>Der Verlust in einem Schritteintrag, {0}, ist nicht in kanonischer Form.</translation>
        </message>
        <message>
            <source>The loss of the last step is {0}; {1} to {2} are allowed.</source>
            <translation>Der Loss des letzten Schritts ist {0}; erlaubt sind {1} bis {2}.</translation>
        </message>
        <message>
            <source>The loss or the count of a share is not a number.</source>
            <translation>Der Verlust oder die Anzahl eines Anteils ist keine Zahl.</translation>
        </message>
        <message>
            <source>The loss or the count of a share is not in canonical form.</source>
            <translation>Der Verlust oder die Anzahl eines Anteils ist nicht in kanonischer Form.</translation>
        </message>
        <message>
            <source>The loss that the trainer signed for step {0} is not the one that the ordered step gives.</source>
            <translation>Der Verlust, den der Trainer für Schritt {0} unterschrieben hat, ist nicht der, den der bestellte Schritt ergibt.</translation>
        </message>
        <message>
            <source>The loss, and the state where one is signed, are the same in both.</source>
            <translation>Der Verlust, und der Zustand, wo einer unterschrieben ist, sind in beiden gleich.</translation>
        </message>
        <message>
            <source>The manifest has format {0}; this Counterfoil reads format {1}.</source>
            <translation>Das Manifest hat das Format {0}; dieses Counterfoil liest das Format {1}.</translation>
        </message>
        <message>
            <source>The margin of {0} is 2^(E-{1}); its exponent must lie in {2} to {3}.</source>
            <translation>Die Toleranz ({0}) ist 2^(E-{1}); ihr Exponent muss in {2} bis {3} liegen.</translation>
        </message>
        <message>
            <source>The name {0} is not allowed in a bundle.</source>
            <translation>Der Name {0} ist in einem Bündel nicht erlaubt.</translation>
        </message>
        <message>
            <source>The names of the order's module are none, not sorted, or there twice.</source>
            <translation>Die Namen des Moduls im Auftrag sind keine, nicht geordnet oder doppelt.</translation>
        </message>
        <message>
            <source>The new state tensor {0} holds a value that is infinite, not a number, or beyond float32's range.</source>
            <translation>Der neue Zustandstensor {0} enthält einen Wert, der unendlich, keine Zahl oder jenseits des Bereichs von float32 ist.</translation>
        </message>
        <message>
            <source>The nonce of the sample could not be kept. {0}</source>
            <translation>Die Nonce der Stichprobe konnte nicht aufbewahrt werden. {0}</translation>
        </message>
        <message>
            <source>The number {0} of a JSON record is not an integer, and canonical JSON has no other numbers.</source>
            <translation>Die Zahl {0} eines JSON-Datensatzes ist nicht ganz; kanonisches JSON kennt keine anderen.</translation>
        </message>
        <message>
            <source>The object header of {0} has a message with flags that no bundle has.</source>
            <translation>Der Objektkopf von {0} hat eine Nachricht mit Merkmalen, die kein Bündel hat.</translation>
        </message>
        <message>
            <source>The object header of {0} is damaged: a message does not end within it.</source>
            <translation>Der Objektkopf von {0} ist beschädigt: Eine Nachricht endet nicht in ihm.</translation>
        </message>
        <message>
            <source>The object header of {0} is damaged: its {1} message has the wrong length.</source>
            <translation>Der Objektkopf von {0} ist beschädigt: Seine Nachricht {1} hat die falsche Länge.</translation>
        </message>
        <message>
            <source>The object header of {0} says something twice.</source>
            <translation>Der Objektkopf von {0} sagt etwas zweimal.</translation>
        </message>
        <message>
            <source>The operator {0} adds terms beyond float32's range.</source>
            <translation>Der Operator {0} addiert Glieder jenseits des Bereichs von float32.</translation>
        </message>
        <message>
            <source>The operator {0} cannot be computed exactly. {1}</source>
            <translation>Der Operator {0} lässt sich nicht exakt berechnen. {1}</translation>
        </message>
        <message>
            <source>The operator {0} cannot be computed.</source>
            <translation>Der Operator {0} lässt sich nicht berechnen.</translation>
        </message>
        <message>
            <source>The operator {0} divides an integer by zero, which has no result.</source>
            <translation>Der Operator {0} teilt eine ganze Zahl durch null, was kein Ergebnis hat.</translation>
        </message>
        <message>
            <source>The operator {0} gave a value that is {1}.</source>
            <translation>Der Operator {0} ergab einen unzulässigen Wert: {1}.</translation>
        </message>
        <message>
            <source>The operator {0} gives another shape or dtype than the program says.</source>
            <translation>Der Operator {0} ergibt eine andere Form oder einen anderen Typ, als das Programm sagt.</translation>
        </message>
        <message>
            <source>The operator {0} has no exact result.</source>
            <translation>Der Operator {0} hat kein exaktes Ergebnis.</translation>
        </message>
        <message>
            <source>The operator {0} has one defined result, the same on every machine, and this machine's is another, so nothing that it computes can accuse anybody. Replay the run on another machine.</source>
            <translation>Der Operator {0} hat ein festgelegtes Ergebnis, dasselbe auf jedem Rechner, und das dieses Rechners ist ein anderes; was er rechnet, kann daher niemanden belasten. Rechnen Sie den Lauf auf einem anderen Rechner nach.</translation>
        </message>
        <message>
            <source>The operator {0} has the number {1}, which float32 cannot hold.</source>
            <translation>Der Operator {0} hat die Zahl {1}, die float32 nicht fassen kann.</translation>
        </message>
        <message>
            <source>The operator {0} has {1} outputs, not {2}.</source>
            <translation>Der Operator {0} hat {1} Ausgaben, nicht {2}.</translation>
        </message>
        <message>
            <source>The operator {0} is composite, and has no exact result as a whole.</source>
            <translation>Der Operator {0} ist zusammengesetzt und hat als Ganzes kein exaktes Ergebnis.</translation>
        </message>
        <message>
            <source>The operator {0} of the program is not in the one form that it has.</source>
            <translation>Der Operator {0} des Programms steht nicht in der einen Form, die er hat.</translation>
        </message>
        <message>
            <source>The operator {0} of the program {1}.</source>
            <translation>Der Operator {0} des Programms {1}.</translation>
        </message>
        <message>
            <source>The operator {0} pads an axis of length {1} by {2}.</source>
            <translation>Der Operator {0} ergänzt eine Achse der Länge {1} um {2}.</translation>
        </message>
        <message>
            <source>The operator {0} pools a tensor without elements.</source>
            <translation>Der Operator {0} fasst einen Tensor ohne Elemente zusammen.</translation>
        </message>
        <message>
            <source>The operator {0} takes a gradient of the shape {1} for {2}.</source>
            <translation>Der Operator {0} nimmt einen Gradienten der Form {1} für {2}.</translation>
        </message>
        <message>
            <source>The operator {0} takes rows that are not divided by their scales.</source>
            <translation>Der Operator {0} nimmt Zeilen, die nicht durch ihre Größenordnungen geteilt sind.</translation>
        </message>
        <message>
            <source>The operator {0} {1}.</source>
            <translation>Der Operator {0} {1}.</translation>
        </message>
        <message>
            <source>The operator {0}, whose inputs agree, has one defined result, the same on every machine. This machine's is that result, and the trainer's fingerprint belongs to others.</source>
            <translation>Der Operator {0}, dessen Eingaben übereinstimmen, hat ein festgelegtes Ergebnis, dasselbe auf jedem Rechner. Dieser Rechner liefert es, und der Fingerabdruck des Trainers gehört zu anderen Werten.</translation>
        </message>
        <message>
            <source>The operators of the verdict's steering are not in order, or it has too many suspects.</source>
            <translation>Die Operatoren in der Steuerbarkeit des Urteils sind nicht geordnet, oder es hat zu viele verdächtige.</translation>
        </message>
        <message>
            <source>The operators of the verdict's steering do not add up to its log entries.</source>
            <translation>Die Operatoren in der Steuerbarkeit des Urteils ergeben zusammen nicht seine Protokolleinträge.</translation>
        </message>
        <message>
            <source>The operators without a bound of the verdict are not a sorted list of names.</source>
            <translation>Die Operatoren ohne Schranke im Urteil sind keine geordnete Liste von Namen.</translation>
        </message>
        <message>
            <source>The order as you, the client, kept it. Without it the order is taken from the run itself, and nobody knows whether it is what was ordered.</source>
            <translation>Der Auftrag, wie Sie als Auftraggeber ihn aufbewahrt haben. Ohne ihn wird der Auftrag aus dem Lauf selbst genommen, und niemand weiß, ob er ist, was beauftragt wurde.</translation>
        </message>
        <message>
            <source>The order combines its shares in a way that this Counterfoil does not know.</source>
            <translation>Der Auftrag führt seine Anteile auf eine Weise zusammen, die dieses Counterfoil nicht kennt.</translation>
        </message>
        <message>
            <source>The order file that was given is signed with the key {0}, and not with the client's key {1} that was given with it.</source>
            <translation>Die angegebene Auftragsdatei ist mit dem Schlüssel {0} unterschrieben und nicht mit dem Schlüssel {1} des Auftraggebers, der mit ihr angegeben wurde.</translation>
        </message>
        <message>
            <source>The order has it: {0}.</source>
            <translation>Der Auftrag hat sie: {0}.</translation>
        </message>
        <message>
            <source>The order has no per-step scalar of this name; its value may stand in the program.</source>
            <translation>Der Auftrag hat keinen Schrittwert dieses Namens; sein Wert kann im Programm stehen.</translation>
        </message>
        <message>
            <source>The order has {0} programs that take turns; it must be 2 to {1}.</source>
            <translation>Der Auftrag hat {0} Programme, die sich abwechseln; es müssen 2 bis {1} sein.</translation>
        </message>
        <message>
            <source>The order is unsigned, so no key can be known for it.</source>
            <translation>Der Auftrag ist nicht unterschrieben, also kann zu ihm kein Schlüssel bekannt sein.</translation>
        </message>
        <message>
            <source>The order keeps {0} in a data file, {1}, and none was given.</source>
            <translation>Der Auftrag hält seine Daten ({0}) in einer Datendatei, {1}, und es wurde keine angegeben.</translation>
        </message>
        <message>
            <source>The order lists parties that answer for shares, and there are none.</source>
            <translation>Der Auftrag führt Parteien auf, die für Anteile einstehen, und es gibt keine.</translation>
        </message>
        <message>
            <source>The order must name a party for one of its {0} shares at least, or none for each.</source>
            <translation>Der Auftrag muss für mindestens einen seiner {0} Anteile eine Partei nennen, oder für keinen.</translation>
        </message>
        <message>
            <source>The order says of the last checkpoint what no order says.</source>
            <translation>Der Auftrag sagt vom letzten gespeicherten Zustand, was kein Auftrag sagt.</translation>
        </message>
        <message>
            <source>The order was not compared with the client's own, and nobody has said that the key that signed it is the client's, so it is open whether this is what the client ordered.</source>
            <translation>Der Auftrag wurde nicht mit dem eigenen des Auftraggebers verglichen, und niemand hat gesagt, dass der Schlüssel, der ihn unterschrieb, der des Auftraggebers ist. Also ist offen, ob das der Auftrag ist, den der Auftraggeber gab.</translation>
        </message>
        <message>
            <source>The order was not compared with the client's own, so it is open whether this is what the client ordered.</source>
            <translation>Der Auftrag wurde nicht mit dem eigenen des Auftraggebers verglichen; ob dies bestellt war, ist also offen.</translation>
        </message>
        <message>
            <source>The order {0} is signed by the key {1} as its client.</source>
            <translation>Der Auftrag {0} ist vom Schlüssel {1} als seinem Auftraggeber unterschrieben.</translation>
        </message>
        <message>
            <source>The order {0} is signed with the client's key {1}, which was given.</source>
            <translation>Der Auftrag {0} ist mit dem angegebenen Schlüssel {1} des Auftraggebers unterschrieben.</translation>
        </message>
        <message>
            <source>The order {0} is signed with the key {1}, and not with the client's key {2}.</source>
            <translation>Der Auftrag {0} ist mit dem Schlüssel {1} unterschrieben und nicht mit dem Schlüssel {2} des Auftraggebers.</translation>
        </message>
        <message>
            <source>The order {0} is the client's.</source>
            <translation>Der Auftrag {0} ist der des Auftraggebers.</translation>
        </message>
        <message>
            <source>The order {0} is unsigned.</source>
            <translation>Der Auftrag {0} ist ohne Unterschrift.</translation>
        </message>
        <message>
            <source>The order {0} is unsigned; it should be signed with the client's key {1}, which was given.</source>
            <translation>Der Auftrag {0} ist ohne Unterschrift; er sollte mit dem angegebenen Schlüssel {1} des Auftraggebers unterschrieben sein.</translation>
        </message>
        <message>
            <source>The order {0} was given, but the run is of the order {1}. The client's key {2} signed that one, and the trainer's key {3} accepted it, as it says on {4}. The run is judged by that order, and by no other: neither side can disown it.</source>
            <translation>Der Auftrag {0} wurde angegeben, aber der Lauf gehört zum Auftrag {1}. Diesen hat der Schlüssel {2} des Auftraggebers unterschrieben und der Schlüssel {3} des Trainers angenommen, wie er sagt am {4}. Der Lauf wird nach diesem Auftrag beurteilt und nach keinem anderen: Keine Seite kann ihn verleugnen.</translation>
        </message>
        <message>
            <source>The order {0} was taken from the file itself; without the client's own nobody knows whether it is what the client ordered.</source>
            <translation>Der Auftrag {0} stammt aus der Datei selbst; ohne den eigenen des Auftraggebers weiß niemand, ob er das ist, was bestellt wurde.</translation>
        </message>
        <message>
            <source>The order's key for share {0} is no Ed25519 public key. {1}</source>
            <translation>Der Schlüssel des Auftrags für Anteil {0} ist kein öffentlicher Ed25519-Schlüssel. {1}</translation>
        </message>
        <message>
            <source>The order's manifest is damaged.</source>
            <translation>Das Manifest des Auftrags ist beschädigt.</translation>
        </message>
        <message>
            <source>The order's program does not apply the adapter of {0} as a sum of W x and B (A x) times one factor, so a merged weight is not known to be the same model.</source>
            <translation>Das Programm des Auftrags wendet den Adapter von {0} nicht als Summe aus W x und B (A x) mal einem Faktor an; von einem verschmolzenen Gewicht ist also nicht bekannt, dass es dasselbe Modell ist.</translation>
        </message>
        <message>
            <source>The order's seed is not an integer in 0 to 2^64 - 1.</source>
            <translation>Der Startwert des Auftrags ist keine ganze Zahl in 0 bis 2^64 - 1.</translation>
        </message>
        <message>
            <source>The order, or a run of it: a .cfoil file.</source>
            <translation>Der Auftrag, oder ein Lauf davon: eine .cfoil-Datei.</translation>
        </message>
        <message>
            <source>The others were right where they part from them; their other steps were not replayed.</source>
            <translation>Die anderen hatten dort recht, wo sie sich von ihnen trennen; ihre übrigen Schritte wurden nicht nachgerechnet.</translation>
        </message>
        <message>
            <source>The output of the operator {0} has no elements, so its fingerprint can only be 0, and the trainer signed another.</source>
            <translation>Die Ausgabe des Operators {0} hat keine Elemente, ihr Fingerabdruck kann also nur 0 sein; der Trainer hat einen anderen unterschrieben.</translation>
        </message>
        <message>
            <source>The parties of shares that the verdict names are not in order, or name no run.</source>
            <translation>Die Parteien von Anteilen, die das Urteil nennt, stehen nicht in der Reihenfolge, oder sie nennen keinen Lauf.</translation>
        </message>
        <message>
            <source>The parties signed the {0} shares that they answer for.</source>
            <translation>Die Parteien haben die {0} Anteile unterschrieben, für die sie einstehen.</translation>
        </message>
        <message>
            <source>The parts disagree on segment {0}, so it is replayed here.</source>
            <translation>Über Segment {0} sind die Teile uneins; deshalb wird es hier nachgerechnet.</translation>
        </message>
        <message>
            <source>The parts, from 'counterfoil audit --partial'.</source>
            <translation>Die Teile, von 'counterfoil audit --partial'.</translation>
        </message>
        <message>
            <source>The party with the key {0} signed that it added something else than its share gave.</source>
            <translation>Die Partei mit dem Schlüssel {0} hat unterschrieben, dass sie etwas anderes addierte, als ihr Anteil ergab.</translation>
        </message>
        <message>
            <source>The party with the key {0} signed what share {1} gave.</source>
            <translation>Die Partei mit dem Schlüssel {0} hat unterschrieben, was Anteil {1} ergab.</translation>
        </message>
        <message>
            <source>The passphrase of {0} is wrong, or the file is damaged.</source>
            <translation>Das Passwort von {0} ist falsch, oder die Datei ist beschädigt.</translation>
        </message>
        <message>
            <source>The pattern of the order's programs has {0} steps; it must have 2 to {1}, and no more than the order.</source>
            <translation>Das Muster der Programme des Auftrags hat {0} Schritte; es muss 2 bis {1} haben und nicht mehr als der Auftrag.</translation>
        </message>
        <message>
            <source>The pattern of the order's programs holds {0}, which stands for none of them.</source>
            <translation>Das Muster der Programme des Auftrags enthält {0}, was für keines von ihnen steht.</translation>
        </message>
        <message>
            <source>The pattern of the order's programs is a text of {0} characters; such a text has {1} to {2}.</source>
            <translation>Das Muster der Programme des Auftrags ist ein Text von {0} Zeichen; ein solcher Text hat {1} bis {2}.</translation>
        </message>
        <message>
            <source>The pattern of the order's programs is not a list of names.</source>
            <translation>Das Muster der Programme des Auftrags ist keine Liste von Namen.</translation>
        </message>
        <message>
            <source>The pattern of the order's programs lists {0} names; a list has at most {1}.</source>
            <translation>Das Muster der Programme des Auftrags zählt {0} Namen auf; eine Liste hat höchstens {1}.</translation>
        </message>
        <message>
            <source>The pattern of the order's programs names {0}, which is none of them.</source>
            <translation>Das Muster der Programme des Auftrags nennt {0}, und keines von ihnen heißt so.</translation>
        </message>
        <message>
            <source>The pattern of the order's programs never names {0}.</source>
            <translation>Das Muster der Programme des Auftrags nennt {0} nie.</translation>
        </message>
        <message>
            <source>The per-step scalars' shape is not (steps, number of scalars).</source>
            <translation>Die Form der Skalare der Schritte ist nicht (Schritte, Anzahl der Skalare).</translation>
        </message>
        <message>
            <source>The process in the box asked for what it was not given.</source>
            <translation>Der Prozess im Kasten verlangte, was ihm nicht gegeben wurde.</translation>
        </message>
        <message>
            <source>The process that holds the private key cannot be started: {0}.</source>
            <translation>Der Prozess, der den privaten Schlüssel hält, lässt sich nicht starten: {0}.</translation>
        </message>
        <message>
            <source>The process that holds the private key ended before it had loaded the key.</source>
            <translation>Der Prozess, der den privaten Schlüssel hält, endete, bevor er den Schlüssel geladen hatte.</translation>
        </message>
        <message>
            <source>The process that holds the private key ended before it had signed.</source>
            <translation>Der Prozess, der den privaten Schlüssel hält, endete, bevor er unterschrieben hatte.</translation>
        </message>
        <message>
            <source>The process that opens the sealed file ended before it was open.</source>
            <translation>Der Prozess, der die versiegelte Datei öffnet, endete, bevor sie offen war.</translation>
        </message>
        <message>
            <source>The process that replays the run ended: {0}. Nothing was concluded.</source>
            <translation>Der Prozess, der den Lauf nachrechnet, endete: {0}. Es wurde nichts gefolgert.</translation>
        </message>
        <message>
            <source>The process that replays the run said what it may not say.</source>
            <translation>Der Prozess, der den Lauf nachrechnet, sagte, was er nicht sagen darf.</translation>
        </message>
        <message>
            <source>The process that writes orders cannot be started: {0}.</source>
            <translation>Der Prozess, der Aufträge schreibt, kann nicht gestartet werden: {0}.</translation>
        </message>
        <message>
            <source>The process that writes orders ended with code {0} before its work was done.</source>
            <translation>Der Prozess, der Aufträge schreibt, endete mit dem Code {0}, bevor er fertig war.</translation>
        </message>
        <message>
            <source>The process was ended. Do not use its results: the file that was open may have taken it over.</source>
            <translation>Der Prozess wurde beendet. Benutzen Sie seine Ergebnisse nicht: Die geöffnete Datei kann ihn übernommen haben.</translation>
        </message>
        <message>
            <source>The profile computes in {0}, by the order digest.</source>
            <translation>Das Profil rechnet in {0}; durch den Auftrags-Hash gebunden.</translation>
        </message>
        <message>
            <source>The profile is exact, by the order digest.</source>
            <translation>Das Profil ist exakt; durch den Auftrags-Hash gebunden.</translation>
        </message>
        <message>
            <source>The profile rounds, by the order digest.</source>
            <translation>Das Profil rundet; durch den Auftrags-Hash gebunden.</translation>
        </message>
        <message>
            <source>The program age opens it too, into a file that anybody can read:</source>
            <translation>Auch das Programm age öffnet sie, in eine Datei, die jeder lesen kann:</translation>
        </message>
        <message>
            <source>The program gives nothing that is combined, and says so.</source>
            <translation>Das Programm ergibt nichts, was zusammengeführt wird, und gibt es doch an.</translation>
        </message>
        <message>
            <source>The program gives {0} to be combined, which cannot be.</source>
            <translation>Das Programm gibt {0} zum Zusammenführen, was nicht geht.</translation>
        </message>
        <message>
            <source>The program has an input of the unknown kind {0}.</source>
            <translation>Das Programm hat eine Eingabe der unbekannten Art {0}.</translation>
        </message>
        <message>
            <source>The program has format {0}; supported is {1}.</source>
            <translation>Das Programm hat das Format {0}; unterstützt wird {1}.</translation>
        </message>
        <message>
            <source>The program has something else where a list should be.</source>
            <translation>Im Programm steht etwas anderes, wo eine Liste stehen sollte.</translation>
        </message>
        <message>
            <source>The program has {0:,} operators; the limit is {1:,}.</source>
            <translation>Das Programm hat {0:,} Operatoren; die Grenze ist {1:,}.</translation>
        </message>
        <message>
            <source>The program has {0:,} values; the limit is {1:,}.</source>
            <translation>Das Programm hat {0:,} Werte; die Grenze ist {1:,}.</translation>
        </message>
        <message>
            <source>The program has {0} operators; the limit is {1}.</source>
            <translation>Das Programm hat {0} Operatoren; die Grenze ist {1}.</translation>
        </message>
        <message>
            <source>The program in the capsule is not the one that the order commits to.</source>
            <translation>Das Programm in der Kapsel ist nicht das, auf das sich der Auftrag festlegt.</translation>
        </message>
        <message>
            <source>The program is damaged: it is not canonical JSON. {0}</source>
            <translation>Das Programm ist beschädigt: Es ist kein kanonisches JSON. {0}</translation>
        </message>
        <message>
            <source>The program is malformed.</source>
            <translation>Das Programm ist fehlerhaft.</translation>
        </message>
        <message>
            <source>The program refers to the value {0} before it is computed.</source>
            <translation>Das Programm verweist auf den Wert {0}, bevor er berechnet ist.</translation>
        </message>
        <message>
            <source>The program uses the dtype {0}; supported are {1}.</source>
            <translation>Das Programm benutzt den Typ {0}; unterstützt werden {1}.</translation>
        </message>
        <message>
            <source>The program uses the operator {0} in {1}, which is not on the allow-list.</source>
            <translation>Das Programm benutzt den Operator {0} in {1}, der nicht auf der Liste der erlaubten steht.</translation>
        </message>
        <message>
            <source>The program's loss is not a single number.</source>
            <translation>Der Verlust des Programms ist keine einzelne Zahl.</translation>
        </message>
        <message>
            <source>The program's update of {0} does not fit a state tensor.</source>
            <translation>Die Aktualisierung von {0} im Programm passt zu keinem Zustandstensor.</translation>
        </message>
        <message>
            <source>The program's updates are not a record.</source>
            <translation>Die Aktualisierungen des Programms sind kein Datensatz.</translation>
        </message>
        <message>
            <source>The programs of the capsule are not those whose turns its steps are.</source>
            <translation>Die Programme der Kapsel sind nicht die, die in ihren Schritten an der Reihe sind.</translation>
        </message>
        <message>
            <source>The programs of the order have {0} bytes together; {1} are allowed.</source>
            <translation>Die Programme des Auftrags haben zusammen {0} Bytes; {1} sind erlaubt.</translation>
        </message>
        <message>
            <source>The progress in {0} cannot be read: {1}.</source>
            <translation>Der Fortschritt in {0} kann nicht gelesen werden: {1}.</translation>
        </message>
        <message>
            <source>The progress of the audit could not be kept. {0}</source>
            <translation>Der Fortschritt der Prüfung konnte nicht aufbewahrt werden. {0}</translation>
        </message>
        <message>
            <source>The progress that was kept belongs to another audit. What differs: {0}.</source>
            <translation>Der aufbewahrte Fortschritt ist der einer anderen Prüfung. Verschieden: {0}.</translation>
        </message>
        <message>
            <source>The progress that was kept does not fit the run.</source>
            <translation>Der aufbewahrte Fortschritt passt nicht zum Lauf.</translation>
        </message>
        <message>
            <source>The progress that was kept is damaged, or not of this version.</source>
            <translation>Der aufbewahrte Fortschritt ist beschädigt oder nicht von dieser Version.</translation>
        </message>
        <message>
            <source>The progress that was kept is not used. {0}</source>
            <translation>Der aufbewahrte Fortschritt wird nicht benutzt. {0}</translation>
        </message>
        <message>
            <source>The progress that was kept was written by another version.</source>
            <translation>Der aufbewahrte Fortschritt wurde von einer anderen Version geschrieben.</translation>
        </message>
        <message>
            <source>The proof speaks of another row.</source>
            <translation>Der Beweis handelt von einer anderen Zeile.</translation>
        </message>
        <message>
            <source>The provider's public key (.pub.pem); without it that which the answer names.</source>
            <translation>Der öffentliche Schlüssel des Anbieters (.pub.pem); ohne ihn der, den die Antwort nennt.</translation>
        </message>
        <message>
            <source>The public key is neither an Ed25519 key nor an ECDSA key on the curve P-256.</source>
            <translation>Der öffentliche Schlüssel ist weder ein Ed25519-Schlüssel noch ein ECDSA-Schlüssel auf der Kurve P-256.</translation>
        </message>
        <message>
            <source>The public key is not one that only its owner can sign with: it is a point of small order, or not in its one encoding.</source>
            <translation>Mit diesem öffentlichen Schlüssel kann nicht nur sein Besitzer unterschreiben: Er ist ein Punkt kleiner Ordnung oder nicht in seiner einzigen Kodierung.</translation>
        </message>
        <message>
            <source>The public key of the witness, a .pub.pem file.</source>
            <translation>Der öffentliche Schlüssel des Zeugen, eine .pub.pem-Datei.</translation>
        </message>
        <message>
            <source>The public key of whoever must have signed it, a .pub.pem file. Verdicts and releases name none; of others the key that they name is taken without it.</source>
            <translation>Der öffentliche Schlüssel dessen, der sie unterschrieben haben muss, eine .pub.pem-Datei. Urteile und Veröffentlichungen nennen keinen; bei anderen wird ohne ihn der genommen, den sie nennen.</translation>
        </message>
        <message>
            <source>The public key on the token {0} is not that of the private one.</source>
            <translation>Der öffentliche Schlüssel auf dem Token {0} ist nicht der des privaten.</translation>
        </message>
        <message>
            <source>The public key that signed the verdict, if it is not yours.</source>
            <translation>Der öffentliche Schlüssel, der das Urteil unterschrieben hat, wenn es nicht Ihrer ist.</translation>
        </message>
        <message>
            <source>The question as you, the client, kept it.</source>
            <translation>Die Frage, wie Sie, der Auftraggeber, sie aufgehoben haben.</translation>
        </message>
        <message>
            <source>The randomness in {0} is not that of its signature.</source>
            <translation>Die Zufallszahl in {0} ist nicht die ihrer Unterschrift.</translation>
        </message>
        <message>
            <source>The record of a tensor that is left out is of no tensor of a state.</source>
            <translation>Der Eintrag eines ausgelassenen Tensors gehört zu keinem Tensor eines Zustands.</translation>
        </message>
        <message>
            <source>The record of step {0}, those of its {1} shares, and what the disputed part of the step starts from, are proven parts of the run root {2}.</source>
            <translation>Der Eintrag von Schritt {0}, die seiner {1} Anteile und das, wovon der strittige Teil des Schritts ausgeht, sind bewiesene Teile der Laufwurzel {2}.</translation>
        </message>
        <message>
            <source>The recorded steps have the run root {0}, but the trainer signed {1}: the bundle was damaged or altered after it was signed.</source>
            <translation>Die aufgezeichneten Schritte haben die Laufwurzel {0}, der Trainer hat aber {1} unterschrieben: Das Bündel wurde nach der Unterschrift beschädigt oder verändert.</translation>
        </message>
        <message>
            <source>The recorded steps match the signed run root</source>
            <translation>Die aufgezeichneten Schritte passen zur unterschriebenen Laufwurzel</translation>
        </message>
        <message>
            <source>The recording in {0} is gone, and no run of it lies beside it.</source>
            <translation>Die Aufzeichnung in {0} ist verschwunden, und kein Lauf liegt daneben.</translation>
        </message>
        <message>
            <source>The recording's file {0} cannot be read.</source>
            <translation>Die Datei {0} der Aufzeichnung kann nicht gelesen werden.</translation>
        </message>
        <message>
            <source>The records of the shares in the capsule are damaged.</source>
            <translation>Die Einträge der Anteile in der Kapsel sind beschädigt.</translation>
        </message>
        <message>
            <source>The records of the shares in the capsule are not those of step {0} of the signed run.</source>
            <translation>Die Einträge der Anteile in der Kapsel sind nicht die von Schritt {0} des unterschriebenen Laufs.</translation>
        </message>
        <message>
            <source>The replay</source>
            <translation>Die Nachrechnung</translation>
        </message>
        <message>
            <source>The replay ended without a report.</source>
            <translation>Das Nachrechnen endete ohne Bericht.</translation>
        </message>
        <message>
            <source>The report could not be printed: its process ended with code {0}.</source>
            <translation>Der Bericht konnte nicht gedruckt werden: Sein Prozess endete mit dem Code {0}.</translation>
        </message>
        <message>
            <source>The report could not be printed: what its process sent cannot be read.</source>
            <translation>Der Bericht konnte nicht gedruckt werden: Was sein Prozess schickte, ist nicht lesbar.</translation>
        </message>
        <message>
            <source>The result {0} cannot be read.</source>
            <translation>Das Ergebnis {0} kann nicht gelesen werden.</translation>
        </message>
        <message>
            <source>The result {0} is not used. {1}</source>
            <translation>Das Ergebnis {0} wird nicht benutzt. {1}</translation>
        </message>
        <message>
            <source>The root of the file is not a group.</source>
            <translation>Die Wurzel der Datei ist keine Gruppe.</translation>
        </message>
        <message>
            <source>The rounding log is honest</source>
            <translation>Das Rundungsprotokoll ist ehrlich</translation>
        </message>
        <message>
            <source>The rounding log of step {0} cannot be read, although its digest is part of what the trainer signed. {1} A trainer answers for what it signed.</source>
            <translation>Das Rundungsprotokoll von Schritt {0} ist nicht lesbar, obwohl sein Hash zu dem gehört, was der Trainer unterschrieben hat. {1} Ein Trainer steht für das ein, was er unterschreibt.</translation>
        </message>
        <message>
            <source>The rounding log of step {0} is no longer the one that was checked.</source>
            <translation>Das Rundungsprotokoll von Schritt {0} ist nicht mehr das geprüfte.</translation>
        </message>
        <message>
            <source>The rounding logs of step {0} are no longer those that were checked.</source>
            <translation>Die Rundungsprotokolle von Schritt {0} sind nicht mehr die geprüften.</translation>
        </message>
        <message>
            <source>The row proof does not hold what lies beside row {0} of {1}.</source>
            <translation>Der Zeilenbeweis enthält nicht, was neben Zeile {0} von {1} liegt.</translation>
        </message>
        <message>
            <source>The row proof has another number of chunks than row {0} lies in.</source>
            <translation>Der Zeilenbeweis hat eine andere Zahl von Blöcken, als Zeile {0} berührt.</translation>
        </message>
        <message>
            <source>The rows of step {0} were read.</source>
            <translation>Gelesen wurden die Zeilen von Schritt {0}.</translation>
        </message>
        <message>
            <source>The rows of the batch were read in reverse.</source>
            <translation>Die Zeilen des Stapels wurden in umgekehrter Folge gelesen.</translation>
        </message>
        <message>
            <source>The rows of the batch were read moved along by {0}.</source>
            <translation>Die Zeilen des Stapels wurden um {0} verschoben gelesen.</translation>
        </message>
        <message>
            <source>The rows of the {0} are leaves, and it lies in a data file or has no rows.</source>
            <translation>Die Zeilen sind Blätter, aber das Datenfeld liegt in einer Datendatei oder hat keine Zeilen: {0}.</translation>
        </message>
        <message>
            <source>The rows of {0} are not those that are asked for.</source>
            <translation>Die Zeilen von {0} sind nicht die, nach denen gefragt ist.</translation>
        </message>
        <message>
            <source>The rows stand at {0} places; at most {1} are proven at once.</source>
            <translation>Die Zeilen stehen an {0} Stellen; bewiesen werden höchstens {1} auf einmal.</translation>
        </message>
        <message>
            <source>The rows {0} and {1} of the batch changed places.</source>
            <translation>Die Zeilen {0} und {1} des Stapels haben die Plätze getauscht.</translation>
        </message>
        <message>
            <source>The rule to stop early asks for a fall of {0}.</source>
            <translation>Die Regel zum vorzeitigen Ende verlangt einen Rückgang um {0}.</translation>
        </message>
        <message>
            <source>The rule to stop early looks back {0} steps, and the order has {1}: it would never fire.</source>
            <translation>Die Regel zum vorzeitigen Ende blickt {0} Schritte zurück, und der Auftrag hat {1}: Sie würde nie greifen.</translation>
        </message>
        <message>
            <source>The rule {0} asks for nothing: every run would keep it.</source>
            <translation>Die Regel {0} verlangt nichts: jeder Lauf würde sie einhalten.</translation>
        </message>
        <message>
            <source>The rule {0} has a number that is none.</source>
            <translation>Die Regel {0} hat eine Zahl, die keine ist.</translation>
        </message>
        <message>
            <source>The rule {0} is no list of texts.</source>
            <translation>Die Regel {0} ist keine Liste von Texten.</translation>
        </message>
        <message>
            <source>The rule {0} is no range.</source>
            <translation>Die Regel {0} ist kein Bereich.</translation>
        </message>
        <message>
            <source>The run cannot be audited as it is: ask the trainer for one that can, and for its weights.</source>
            <translation>Der Lauf lässt sich so nicht prüfen: Bitten Sie den Trainer um einen, der sich prüfen lässt, und um dessen Gewichte.</translation>
        </message>
        <message>
            <source>The run commits to another state before its first step than the initial state that was ordered.</source>
            <translation>Der Lauf legt sich vor seinem ersten Schritt auf einen anderen Zustand fest als auf den bestellten Anfangszustand.</translation>
        </message>
        <message>
            <source>The run commits to no state of step {0}.</source>
            <translation>Der Lauf legt sich auf keinen Zustand von Schritt {0} fest.</translation>
        </message>
        <message>
            <source>The run does not hold the initial weights: they lie in its order.</source>
            <translation>Der Lauf enthält die ersten Gewichte nicht: Sie liegen in seinem Auftrag.</translation>
        </message>
        <message>
            <source>The run does not say when it was signed, so that nobody knows whether the beacon's round came later.</source>
            <translation>Der Lauf sagt nicht, wann er unterschrieben wurde; niemand weiß also, ob die Runde des öffentlichen Signals später kam.</translation>
        </message>
        <message>
            <source>The run has a rounding log of {0} bytes under an exact profile, which has none.</source>
            <translation>Der Lauf hat ein Rundungsprotokoll von {0} Bytes unter einem exakten Profil, das keines hat.</translation>
        </message>
        <message>
            <source>The run has no loss of a last step that is a number.</source>
            <translation>Der Lauf hat keinen Loss eines letzten Schritts, der eine Zahl ist.</translation>
        </message>
        <message>
            <source>The run has no step {0}; its steps are {1} to {2}.</source>
            <translation>Der Lauf hat keinen Schritt {0}; seine Schritte sind {1} bis {2}.</translation>
        </message>
        <message>
            <source>The run has the segments 1 to {0}.</source>
            <translation>Der Lauf hat die Segmente 1 bis {0}.</translation>
        </message>
        <message>
            <source>The run has {0} fingerprints for each step; a step of its program has {1}.</source>
            <translation>Der Lauf hat {0} Fingerabdrücke je Schritt; ein Schritt seines Programms hat {1}.</translation>
        </message>
        <message>
            <source>The run has {0} of {1} ordered steps, and its order does not let it stop early.</source>
            <translation>Der Lauf hat {0} von {1} bestellten Schritten, und sein Auftrag lässt ihn nicht vorzeitig enden.</translation>
        </message>
        <message>
            <source>The run has {0} of {1} ordered steps.</source>
            <translation>Der Lauf hat {0} von {1} bestellten Schritten.</translation>
        </message>
        <message>
            <source>The run has {0} of {1} ordered steps. By the losses that the trainer signed, the order's rule to stop early does not fire after step {0}, so the run should have gone on.</source>
            <translation>Der Lauf hat {0} von {1} bestellten Schritten. Nach den Verlusten, die der Trainer unterschrieben hat, greift die Regel des Auftrags zum vorzeitigen Ende nach Schritt {0} nicht; der Lauf hätte also weitergehen müssen.</translation>
        </message>
        <message>
            <source>The run has {0} of {1} ordered steps. By the losses that the trainer signed, the order's rule to stop early fires after step {2}, so the run should have ended there.</source>
            <translation>Der Lauf hat {0} von {1} bestellten Schritten. Nach den Verlusten, die der Trainer unterschrieben hat, greift die Regel des Auftrags zum vorzeitigen Ende nach Schritt {2}; der Lauf hätte also dort enden müssen.</translation>
        </message>
        <message>
            <source>The run has {0} of {1} ordered steps. That the order's rule ends it there, and not elsewhere, follows from the losses of all its steps; those of steps that were not replayed are the trainer's word, and one of them is enough to end a run elsewhere.</source>
            <translation>Der Lauf hat {0} von {1} bestellten Schritten. Dass die Regel des Auftrags ihn dort beendet und nirgends sonst, folgt aus den Verlusten all seiner Schritte; die der nicht nachgerechneten Schritte sind das Wort des Trainers, und ein einziger genügt, um einen Lauf anderswo zu beenden.</translation>
        </message>
        <message>
            <source>The run has {0} of {1} ordered steps: by the losses of these steps the order's rule ends it there.</source>
            <translation>Der Lauf hat {0} von {1} bestellten Schritten: Nach den Verlusten dieser Schritte beendet die Regel des Auftrags ihn dort.</translation>
        </message>
        <message>
            <source>The run has {0} segments; {1} were asked for.</source>
            <translation>Der Lauf hat {0} Segmente; verlangt wurden {1}.</translation>
        </message>
        <message>
            <source>The run has {0} steps, and its order {1}.</source>
            <translation>Der Lauf hat {0} Schritte, und sein Auftrag {1}.</translation>
        </message>
        <message>
            <source>The run is another than that in which the rows were found.</source>
            <translation>Der Lauf ist ein anderer als der, in dem die Zeilen gefunden wurden.</translation>
        </message>
        <message>
            <source>The run is no evaluation, or its last state is not the one that it commits to.</source>
            <translation>Der Lauf ist keine Auswertung, oder sein letzter Zustand ist nicht der, auf den er sich festlegt.</translation>
        </message>
        <message>
            <source>The run is signed and complete. Compare it with the client's own order before you rely on it.</source>
            <translation>Der Lauf ist unterschrieben und vollständig. Vergleichen Sie ihn mit dem eigenen Auftrag des Auftraggebers, bevor Sie sich darauf verlassen.</translation>
        </message>
        <message>
            <source>The run is signed, and its steps are those that were signed. Its stored states were not looked at.</source>
            <translation>Der Lauf ist unterschrieben, und seine Schritte sind die unterschriebenen. Seine gespeicherten Zustände wurden nicht angesehen.</translation>
        </message>
        <message>
            <source>The run is signed, complete, and was made for the client's order. Replay it to see whether it is true.</source>
            <translation>Der Lauf ist unterschrieben, vollständig und für den Auftrag des Auftraggebers gemacht. Rechnen Sie ihn nach, um zu sehen, ob er wahr ist.</translation>
        </message>
        <message>
            <source>The run is signed. What it holds is being compared with what the trainer signed.</source>
            <translation>Der Lauf ist unterschrieben. Sein Inhalt wird mit dem verglichen, was der Trainer unterschrieben hat.</translation>
        </message>
        <message>
            <source>The run is written.</source>
            <translation>Der Lauf wird geschrieben.</translation>
        </message>
        <message>
            <source>The run keeps no average of its weights.</source>
            <translation>Der Lauf führt keinen Durchschnitt seiner Gewichte.</translation>
        </message>
        <message>
            <source>The run names its initial weights by their digest, and leaves them to the client's order.</source>
            <translation>Der Lauf nennt seine ersten Gewichte mit ihrem Digest und überlässt sie dem Auftrag des Auftraggebers.</translation>
        </message>
        <message>
            <source>The run was audited, and it is not what was ordered: whatever weights it ends in are not those of a verified run. Ask the trainer for a run that comes out as ordered, and for its weights.</source>
            <translation>Der Lauf wurde geprüft, und er ist nicht, was beauftragt war: In welchen Gewichten er auch endet, es sind nicht die eines verifizierten Laufs. Bitten Sie den Trainer um einen Lauf, der wie beauftragt herauskommt, und um dessen Gewichte.</translation>
        </message>
        <message>
            <source>The run was made for another order than the client's.</source>
            <translation>Der Lauf wurde für einen anderen Auftrag als den des Auftraggebers gemacht.</translation>
        </message>
        <message>
            <source>The run was made for another order than the first run.</source>
            <translation>Der Lauf wurde für einen anderen Auftrag gemacht als der erste Lauf.</translation>
        </message>
        <message>
            <source>The run was made for this order</source>
            <translation>Der Lauf wurde für diesen Auftrag gemacht</translation>
        </message>
        <message>
            <source>The run was made.</source>
            <translation>Der Lauf wurde gemacht.</translation>
        </message>
        <message>
            <source>The run was made; its audit concludes.</source>
            <translation>Der Lauf ist fertig; seine Prüfung kommt zum Ergebnis.</translation>
        </message>
        <message>
            <source>The run's claim has as many steps as were ordered, and says that it has fewer.</source>
            <translation>Die Erklärung des Laufs hat so viele Schritte, wie beauftragt waren, und sagt, es seien weniger.</translation>
        </message>
        <message>
            <source>The runs are of different orders; what differs: {0}.</source>
            <translation>Die Läufe gehören zu verschiedenen Aufträgen; was abweicht: {0}.</translation>
        </message>
        <message>
            <source>The runs that took part agree in every step.</source>
            <translation>Die Läufe, die teilnahmen, stimmen in jedem Schritt überein.</translation>
        </message>
        <message>
            <source>The same command with --resume goes on from there.</source>
            <translation>Derselbe Befehl mit --resume geht von dort aus weiter.</translation>
        </message>
        <message>
            <source>The schedule names the rows {0} to {1}; the data array {2} has {3} rows.</source>
            <translation>Der Ablauf nennt die Zeilen {0} bis {1}; das Datenfeld {2} hat {3} Zeilen.</translation>
        </message>
        <message>
            <source>The schedule's shape is not (steps, batch size).</source>
            <translation>Die Form des Ablaufs ist nicht (Schritte, Größe des Batches).</translation>
        </message>
        <message>
            <source>The score is {0}; {1} to {2} are allowed. It is that of the model {3} on the data {4}.</source>
            <translation>Das Ergebnis ist {0}; erlaubt sind {1} bis {2}. Es ist das des Modells {3} auf den Daten {4}.</translation>
        </message>
        <message>
            <source>The secret key {0}, which seals what this user keeps, cannot be used: {1}.</source>
            <translation>Der geheime Schlüssel {0}, der versiegelt, was dieser Benutzer aufbewahrt, kann nicht benutzt werden: {1}.</translation>
        </message>
        <message>
            <source>The secret of an Ed25519 key is 32 bytes.</source>
            <translation>Das Geheimnis eines Ed25519-Schlüssels hat 32 Bytes.</translation>
        </message>
        <message>
            <source>The segments {0} cannot be read.</source>
            <translation>Die Segmente {0} sind nicht lesbar.</translation>
        </message>
        <message>
            <source>The settings of the window, {0}, are no file.</source>
            <translation>Die Einstellungen des Fensters, {0}, sind keine Datei.</translation>
        </message>
        <message>
            <source>The shape of the {0} is not a list of lengths.</source>
            <translation>Die Form ist keine Liste von Längen: {0}.</translation>
        </message>
        <message>
            <source>The signature does not hold for the key {0}.</source>
            <translation>Die Unterschrift gilt nicht für den Schlüssel {0}.</translation>
        </message>
        <message>
            <source>The signature of a beacon's round cannot be checked: a library is not installed.</source>
            <translation>Die Unterschrift einer Runde des öffentlichen Signals kann nicht geprüft werden: Eine Bibliothek ist nicht installiert.</translation>
        </message>
        <message>
            <source>The signature of round {0} does not hold: it is not the beacon's.</source>
            <translation>Die Unterschrift von Runde {0} gilt nicht: Sie ist nicht die des öffentlichen Signals.</translation>
        </message>
        <message>
            <source>The signature of share {0} in the capsule is not 64 bytes.</source>
            <translation>Die Unterschrift von Anteil {0} in der Kapsel hat nicht 64 Bytes.</translation>
        </message>
        <message>
            <source>The signature's envelope is malformed.</source>
            <translation>Der Umschlag der Unterschrift ist fehlerhaft.</translation>
        </message>
        <message>
            <source>The signed payload is not an in-toto statement of version 1.</source>
            <translation>Der unterschriebene Inhalt ist kein in-toto-Statement der Version 1.</translation>
        </message>
        <message>
            <source>The signed payload is not an in-toto statement.</source>
            <translation>Der unterschriebene Inhalt ist kein in-toto-Statement.</translation>
        </message>
        <message>
            <source>The signed payload is not canonical JSON.</source>
            <translation>Der unterschriebene Inhalt ist kein kanonisches JSON.</translation>
        </message>
        <message>
            <source>The signed payload is not of the type {0}.</source>
            <translation>Der unterschriebene Inhalt ist nicht von der Art {0}.</translation>
        </message>
        <message>
            <source>The signed statement says, among the rest, what was found:</source>
            <translation>Die unterschriebene Aussage sagt unter anderem, was gefunden wurde:</translation>
        </message>
        <message>
            <source>The signed verdict is written. Export it again to print the report.</source>
            <translation>Das unterschriebene Urteil ist geschrieben. Exportieren Sie es noch einmal, um den Bericht zu drucken.</translation>
        </message>
        <message>
            <source>The signer failed.</source>
            <translation>Der unterschreibende Prozess ist gescheitert.</translation>
        </message>
        <message>
            <source>The signer gave an answer that belongs to another question.</source>
            <translation>Der Prozess, der unterschreibt, gab eine Antwort, die zu einer anderen Frage gehört.</translation>
        </message>
        <message>
            <source>The signer was sent something else than a passphrase.</source>
            <translation>Dem unterschreibenden Prozess wurde etwas anderes als ein Passwort geschickt.</translation>
        </message>
        <message>
            <source>The signer was sent something else than a statement.</source>
            <translation>Dem unterschreibenden Prozess wurde etwas anderes als eine Aussage geschickt.</translation>
        </message>
        <message>
            <source>The sources of the order are not a list of files by part.</source>
            <translation>Die Quellen des Auftrags sind keine Liste von Dateien je Teil.</translation>
        </message>
        <message>
            <source>The state after step {0} and the records of the steps after it, up to step {1}, are proven parts of the run root {2}.</source>
            <translation>Der Zustand nach Schritt {0} und die Einträge der Schritte danach bis Schritt {1} sind bewiesene Teile der Laufwurzel {2}.</translation>
        </message>
        <message>
            <source>The state has no tensor {0}.</source>
            <translation>Der Zustand hat keinen Tensor {0}.</translation>
        </message>
        <message>
            <source>The state in the capsule is not the one that the run commits to after step {0}.</source>
            <translation>Der Zustand in der Kapsel ist nicht der, auf den sich der Lauf nach Schritt {0} festlegt.</translation>
        </message>
        <message>
            <source>The state tensor {0} has the dtype {1}, which no state has.</source>
            <translation>Der Zustandstensor {0} hat den Typ {1}, den kein Zustand hat.</translation>
        </message>
        <message>
            <source>The state that is stored at step {0} is the one that was ordered, so it is not shown that the model is another.</source>
            <translation>Der Zustand, der bei Schritt {0} gespeichert ist, ist der bestellte; dass das Modell ein anderes ist, ist also nicht gezeigt.</translation>
        </message>
        <message>
            <source>The state that the trainer signed after step {0} holds values that are infinite or not a number (in {1}). Every state that a step changes must be finite, or the step has no result, on every machine: so nobody comes to step {2}.</source>
            <translation>Der Zustand, den der Trainer nach Schritt {0} unterschrieben hat, enthält Werte, die unendlich oder keine Zahl sind (in {1}). Jeder Zustand, den ein Schritt ändert, muss endlich sein, sonst hat der Schritt kein Ergebnis, auf jedem Rechner: Niemand kommt also zu Schritt {2}.</translation>
        </message>
        <message>
            <source>The state that the witness was shown is empty.</source>
            <translation>Der Zustand, der dem Zeugen gezeigt wurde, ist leer.</translation>
        </message>
        <message>
            <source>The state that was signed after it is not the ordered one, and the steps after it go on from there.</source>
            <translation>Der danach unterschriebene Zustand ist nicht der bestellte, und die Schritte danach gehen von dort aus weiter.</translation>
        </message>
        <message>
            <source>The statement is about another file than {0}.</source>
            <translation>Die Aussage handelt von einer anderen Datei als {0}.</translation>
        </message>
        <message>
            <source>The statement is about another order than those signed before.</source>
            <translation>Die Aussage handelt von einem anderen Auftrag als die zuvor unterschriebenen.</translation>
        </message>
        <message>
            <source>The statement is not in the form of {0}: {1}.</source>
            <translation>Die Aussage hat nicht die richtige Form ({0}): {1}.</translation>
        </message>
        <message>
            <source>The statement names another public key than the one that would sign it.</source>
            <translation>Die Aussage nennt einen anderen öffentlichen Schlüssel als den, der sie unterschreiben würde.</translation>
        </message>
        <message>
            <source>The statement that the engine gives does not say what it had shown.</source>
            <translation>Das Statement des Rechenprozesses sagt nicht, was er gezeigt hatte.</translation>
        </message>
        <message>
            <source>The statement {0} is damaged: {1}</source>
            <translation>Die Erklärung {0} ist beschädigt: {1}</translation>
        </message>
        <message>
            <source>The statement, a .json file.</source>
            <translation>Die Aussage, eine .json-Datei.</translation>
        </message>
        <message>
            <source>The steps before it that were replayed are right.</source>
            <translation>Die nachgerechneten Schritte davor stimmen.</translation>
        </message>
        <message>
            <source>The steps of the run are not those that its trainer signed.</source>
            <translation>Die Schritte des Laufs sind nicht die, die sein Trainer unterschrieben hat.</translation>
        </message>
        <message>
            <source>The steps of this order have the shares 0 to {0}, and each can be chosen once.</source>
            <translation>Die Schritte dieses Auftrags haben die Anteile 0 bis {0}, und jeder kann einmal gewählt werden.</translation>
        </message>
        <message>
            <source>The steps of {0} are not those that its trainer signed.</source>
            <translation>Die Schritte von {0} sind nicht die, die sein Trainer unterschrieben hat.</translation>
        </message>
        <message>
            <source>The steps up to {0} are not those of the tree head that was published on {1}: its readers would conclude that history was rewritten.</source>
            <translation>Die Schritte bis {0} sind nicht die des Baumkopfs, der am {1} veröffentlicht wurde: Seine Leser würden schließen, dass der Verlauf umgeschrieben wurde.</translation>
        </message>
        <message>
            <source>The stored state of step {0} differs from the state root of that step.</source>
            <translation>Der gespeicherte Zustand von Schritt {0} passt nicht zur Zustandswurzel dieses Schritts.</translation>
        </message>
        <message>
            <source>The stored state of step {0} is one that no step leaves.</source>
            <translation>Der gespeicherte Zustand von Schritt {0} ist einer, den kein Schritt hinterlässt.</translation>
        </message>
        <message>
            <source>The stored states of the run have other tensors than the order's initial state.</source>
            <translation>Die gespeicherten Zustände des Laufs haben andere Tensoren als der Anfangszustand des Auftrags.</translation>
        </message>
        <message>
            <source>The structure of the file is larger than that of any bundle, or names a place twice.</source>
            <translation>Die Struktur der Datei ist größer als die jedes Bündels oder nennt eine Stelle zweimal.</translation>
        </message>
        <message>
            <source>The structure of the file names {0} bytes from byte {1}, which lie outside the file.</source>
            <translation>Die Struktur der Datei nennt {0} Bytes ab Byte {1}, die außerhalb der Datei liegen.</translation>
        </message>
        <message>
            <source>The subjects of the {0} are not what it speaks of.</source>
            <translation>Die Erklärung ({0}) nennt als Gegenstand etwas anderes als das, wovon sie spricht.</translation>
        </message>
        <message>
            <source>The system failed to read {0}, which says nothing about the file itself.</source>
            <translation>Das System konnte {0} nicht lesen, was über die Datei selbst nichts aussagt.</translation>
        </message>
        <message>
            <source>The temperature lies above 0, and top-p above 0 and at most at 1.</source>
            <translation>Die Temperatur liegt über 0, und top-p über 0 und höchstens bei 1.</translation>
        </message>
        <message>
            <source>The tensor {0} does not have all of the rows that are asked for.</source>
            <translation>Der Tensor {0} hat nicht alle verlangten Zeilen.</translation>
        </message>
        <message>
            <source>The tensor {0} has the dtype {1}, which has no digest.</source>
            <translation>Der Tensor {0} hat den Typ {1}, der keinen Digest hat.</translation>
        </message>
        <message>
            <source>The tensors in the capsule that share 0 changed are not those that were signed.</source>
            <translation>Die Tensoren in der Kapsel, die Anteil 0 geändert hat, sind nicht die, die unterschrieben wurden.</translation>
        </message>
        <message>
            <source>The tensors of the verdict's dispute are not in order, or one stands there twice.</source>
            <translation>Die Tensoren im Streitfall des Urteils sind nicht geordnet, oder einer steht doppelt da.</translation>
        </message>
        <message>
            <source>The tensors that the last checkpoint leaves out are not sorted, or named twice.</source>
            <translation>Die Tensoren, die der letzte gespeicherte Zustand auslässt, sind nicht sortiert oder zweimal genannt.</translation>
        </message>
        <message>
            <source>The token {0} needs its PIN.</source>
            <translation>Das Token {0} braucht seine PIN.</translation>
        </message>
        <message>
            <source>The torch {0} of this machine lacks the operator {1}.</source>
            <translation>Dem torch {0} dieses Rechners fehlt der Operator {1}.</translation>
        </message>
        <message>
            <source>The trainer accepted the order {0}, but the file holds it {1}: one of the two was exchanged afterwards.</source>
            <translation>Der Trainer hat den Auftrag {0} angenommen, aber die Datei enthält ihn {1}: Eines von beiden wurde nachher ausgetauscht.</translation>
        </message>
        <message>
            <source>The trainer has not signed this step yet; it stands in its recording.</source>
            <translation>Der Trainer hat diesen Schritt noch nicht unterschrieben; er steht in seiner Aufzeichnung.</translation>
        </message>
        <message>
            <source>The trainer is not accused. A second replay gave the same result as the first, but nothing proves that the trainer's is one that no sound machine gives.</source>
            <translation>Dem Trainer wird nichts vorgeworfen. Eine zweite Nachrechnung ergab dasselbe wie die erste, aber nichts beweist, dass kein einwandfreier Rechner das Ergebnis des Trainers liefert.</translation>
        </message>
        <message>
            <source>The trainer of the run signed it, which is no audit.</source>
            <translation>Der Trainer des Laufs hat es unterschrieben; das ist keine Prüfung.</translation>
        </message>
        <message>
            <source>The trainer signed a log of step {0} that nobody can read.</source>
            <translation>Der Trainer hat für Schritt {0} ein Protokoll unterschrieben, das niemand lesen kann.</translation>
        </message>
        <message>
            <source>The trainer signed a result of step {0}, which comes to none on a sound machine.</source>
            <translation>Der Trainer hat ein Ergebnis von Schritt {0} unterschrieben, der auf einer einwandfreien Maschine zu keinem kommt.</translation>
        </message>
        <message>
            <source>The trainer signed a result of step {0}, which comes to none when it is computed as ordered.</source>
            <translation>Der Trainer hat ein Ergebnis von Schritt {0} unterschrieben, der zu keinem kommt, wenn er wie bestellt berechnet wird.</translation>
        </message>
        <message>
            <source>The trainer signed a rounding log for step {0} that cannot be read, so nobody can replay the step. The trainer answers for what it signed.</source>
            <translation>Der Trainer hat für Schritt {0} ein Rundungsprotokoll unterschrieben, das nicht lesbar ist, sodass niemand den Schritt nachrechnen kann. Der Trainer steht für das ein, was er unterschrieben hat.</translation>
        </message>
        <message>
            <source>The trainer signed a rounding log for step {0} that nobody can read.</source>
            <translation>Der Trainer unterschrieb für Schritt {0} ein Rundungsprotokoll, das niemand lesen kann.</translation>
        </message>
        <message>
            <source>The trainer signed a run of the order {0}, but the file holds the order {1}.</source>
            <translation>Der Trainer hat einen Lauf des Auftrags {0} unterschrieben, die Datei enthält aber den Auftrag {1}.</translation>
        </message>
        <message>
            <source>The trainer signed a tree head over this step, and cannot take it back.</source>
            <translation>Der Trainer hat einen Baumkopf über diesen Schritt unterschrieben und kann ihn nicht zurücknehmen.</translation>
        </message>
        <message>
            <source>The trainer signed a tree head over {0} leaves, dated {1}, that the run does not extend: it signed two histories up to step {2}.</source>
            <translation>Der Trainer hat einen Baumkopf über {0} Blätter unterschrieben, datiert auf {1}, den der Lauf nicht fortsetzt: Er hat bis Schritt {2} zwei Geschichten unterschrieben.</translation>
        </message>
        <message>
            <source>The trainer signed a tree head over {0} leaves, dated {1}; the run has only {2}: it was cut off.</source>
            <translation>Der Trainer hat einen Baumkopf über {0} Blätter unterschrieben, datiert auf {1}; der Lauf hat nur {2}: Er wurde abgeschnitten.</translation>
        </message>
        <message>
            <source>The trainer signed fingerprints of step {0} that the ordered step does not give; the loss, and the state where one is signed, are those of the ordered step.</source>
            <translation>Der Trainer hat Fingerabdrücke von Schritt {0} unterschrieben, die der bestellte Schritt nicht ergibt; der Verlust, und der Zustand, wo einer unterschrieben ist, sind die des bestellten Schritts.</translation>
        </message>
        <message>
            <source>The trainer signed {0} of {1} ordered steps, but the order does not let a run stop early.</source>
            <translation>Der Trainer hat {0} von {1} bestellten Schritten unterschrieben, der Auftrag lässt einen Lauf aber nicht vorzeitig enden.</translation>
        </message>
        <message>
            <source>The trainer signed {0} steps, but the file holds {1}.</source>
            <translation>Der Trainer hat {0} Schritte unterschrieben, die Datei enthält aber {1}.</translation>
        </message>
        <message>
            <source>The trainer signed {0} steps, but the order has {1}.</source>
            <translation>Der Trainer hat {0} Schritte unterschrieben, der Auftrag hat aber {1}.</translation>
        </message>
        <message>
            <source>The trainer stored no state after step {0}, so there is nothing to compare.</source>
            <translation>Der Trainer hat nach Schritt {0} keinen Zustand gespeichert; es gibt nichts zu vergleichen.</translation>
        </message>
        <message>
            <source>The trainer's key was taken from the run itself, so it is open who trained.</source>
            <translation>Der Schlüssel des Trainers wurde dem Lauf selbst entnommen; wer trainiert hat, ist also offen.</translation>
        </message>
        <message>
            <source>The trainer's public key (.pub.pem), if you know it. Without it the key that the run names is used.</source>
            <translation>Der öffentliche Schlüssel des Trainers (.pub.pem), wenn Sie ihn kennen. Ohne ihn wird der genommen, den der Lauf nennt.</translation>
        </message>
        <message>
            <source>The trainer's public key, which must have signed the run; unless given, that which the run names.</source>
            <translation>Der öffentliche Schlüssel des Trainers, der den Lauf unterschrieben haben muss; ohne Angabe der, den der Lauf nennt.</translation>
        </message>
        <message>
            <source>The trainer's record of step {0} is not the one that the ordered step gives: replayed from {1}, it gives other values than the trainer signed (in {2}).</source>
            <translation>Die Aufzeichnung des Trainers von Schritt {0} ist nicht die, die der bestellte Schritt ergibt: Von {1} aus nachgerechnet ergibt er andere Werte, als der Trainer unterschrieben hat (in {2}).</translation>
        </message>
        <message>
            <source>The trainer's run, a .cfoil file.</source>
            <translation>Der Lauf des Trainers, eine .cfoil-Datei.</translation>
        </message>
        <message>
            <source>The trainer's signature binds the trainer to its record of that very step, so the dispute can be settled by anybody who repeats this one step.</source>
            <translation>Seine Unterschrift bindet den Trainer an seine Aufzeichnung genau dieses Schritts; den Streitfall kann also jeder klären, der diesen einen Schritt wiederholt.</translation>
        </message>
        <message>
            <source>The trainer's signature holds</source>
            <translation>Die Unterschrift des Trainers ist gültig</translation>
        </message>
        <message>
            <source>The trainer's signed logs leave out, in several steps, what every sound recorder writes down.</source>
            <translation>Die unterschriebenen Protokolle des Trainers lassen in mehreren Schritten aus, was jede einwandfreie Aufzeichnung festhält.</translation>
        </message>
        <message>
            <source>The trainer's step {0} is right: the replay has its Merkle leaf bit for bit, so there is nothing to dispute in it. Other steps of the run were not looked at.</source>
            <translation>Der Schritt {0} des Trainers ist richtig: Die Nachrechnung hat Bit für Bit sein Merkle-Blatt; an ihm ist nichts zu bestreiten. Andere Schritte des Laufs wurden nicht angesehen.</translation>
        </message>
        <message>
            <source>The trainer's values at the operator {0} are right. This machine's are off the exact ones by up to {1:.3g} times the error bound, so nothing that it computes can accuse anybody. Replay the run on another machine.</source>
            <translation>Die Werte des Trainers beim Operator {0} sind richtig. Die dieses Rechners liegen um bis zu das {1:.3g}-Fache der Fehlerschranke neben den exakten; was er rechnet, kann daher niemanden belasten. Rechnen Sie den Lauf auf einem anderen Rechner nach.</translation>
        </message>
        <message>
            <source>The tree heads in {0} are damaged.</source>
            <translation>Die Baumköpfe in {0} sind beschädigt.</translation>
        </message>
        <message>
            <source>The two passphrases differ.</source>
            <translation>Die beiden Passwörter sind verschieden.</translation>
        </message>
        <message>
            <source>The unfinished recording in {0} is damaged.</source>
            <translation>Die unfertige Aufzeichnung in {0} ist beschädigt.</translation>
        </message>
        <message>
            <source>The unfinished recording in {0} is of another order.</source>
            <translation>Die unfertige Aufzeichnung in {0} gehört zu einem anderen Auftrag.</translation>
        </message>
        <message>
            <source>The unfinished recording in {0} was begun by another version.</source>
            <translation>Die unfertige Aufzeichnung in {0} wurde von einer anderen Version begonnen.</translation>
        </message>
        <message>
            <source>The unfinished recording in {0} was begun with an order that another client had signed, or nobody; or its acceptance is damaged.</source>
            <translation>Die unfertige Aufzeichnung in {0} wurde mit einem Auftrag begonnen, den ein anderer Auftraggeber unterschrieben hatte, oder niemand; oder seine Annahme ist beschädigt.</translation>
        </message>
        <message>
            <source>The unfinished recording in {0} was begun with another key.</source>
            <translation>Die unfertige Aufzeichnung in {0} wurde mit einem anderen Schlüssel begonnen.</translation>
        </message>
        <message>
            <source>The update programs of the order are not those of its gradient programs.</source>
            <translation>Die Aktualisierungsprogramme des Auftrags sind nicht die seiner Gradientenprogramme.</translation>
        </message>
        <message>
            <source>The verdict</source>
            <translation>Das Urteil</translation>
        </message>
        <message>
            <source>The verdict disputes a step of a run that it does not name.</source>
            <translation>Das Urteil bestreitet einen Schritt eines Laufs, den es nicht nennt.</translation>
        </message>
        <message>
            <source>The verdict disputes a step whose Merkle leaves are equal.</source>
            <translation>Das Urteil bestreitet einen Schritt, dessen Merkle-Blätter gleich sind.</translation>
        </message>
        <message>
            <source>The verdict disputes a step without a replay, or its log although it was replayed.</source>
            <translation>Das Urteil bestreitet einen Schritt ohne Nachrechnung, oder sein Protokoll, obwohl er nachgerechnet wurde.</translation>
        </message>
        <message>
            <source>The verdict does not list every check once and in order.</source>
            <translation>Das Urteil nennt nicht jede Prüfung einmal und der Reihe nach.</translation>
        </message>
        <message>
            <source>The verdict does not prove that the run contains the trainer's leaf of step {0}.</source>
            <translation>Das Urteil beweist nicht, dass der Lauf das Blatt des Trainers von Schritt {0} enthält.</translation>
        </message>
        <message>
            <source>The verdict does not say whose run it is about.</source>
            <translation>Das Urteil sagt nicht, wessen Lauf es betrifft.</translation>
        </message>
        <message>
            <source>The verdict finds that a step has no result, and has one.</source>
            <translation>Das Urteil befindet, dass ein Schritt kein Ergebnis hat, und hat eines.</translation>
        </message>
        <message>
            <source>The verdict gives a check another title than it has.</source>
            <translation>Das Urteil gibt einer Prüfung einen anderen Titel, als sie hat.</translation>
        </message>
        <message>
            <source>The verdict has an account of a log under an exact profile, which has none.</source>
            <translation>Das Urteil rechnet über ein Protokoll ab, unter einem exakten Profil, das keines hat.</translation>
        </message>
        <message>
            <source>The verdict is about a run that was fetched, and names something else than that run.</source>
            <translation>Das Urteil handelt von einem Lauf, der abgerufen wurde, und nennt etwas anderes als diesen Lauf.</translation>
        </message>
        <message>
            <source>The verdict is about another file: its SHA-256 is {0}..., that of {1} is {2}....</source>
            <translation>Das Urteil gilt einer anderen Datei: Ihr SHA-256 ist {0}..., der von {1} ist {2}....</translation>
        </message>
        <message>
            <source>The verdict is about another run than that in {0}: {1}.</source>
            <translation>Das Urteil betrifft einen anderen Lauf als den in {0}: {1}.</translation>
        </message>
        <message>
            <source>The verdict rests on something else than an order's signature, its acceptance and a run's claim.</source>
            <translation>Das Urteil beruht auf etwas anderem als der Unterschrift eines Auftrags, seiner Annahme und der Erklärung eines Laufs.</translation>
        </message>
        <message>
            <source>The verdict says that all segments were chosen, and lists fewer.</source>
            <translation>Das Urteil sagt, dass alle Segmente gewählt wurden, und nennt weniger.</translation>
        </message>
        <message>
            <source>The verdict says that another key accepted the order than the one that signed the run.</source>
            <translation>Das Urteil sagt, dass ein anderer Schlüssel den Auftrag annahm als der, der den Lauf unterschrieb.</translation>
        </message>
        <message>
            <source>The verdict states another probability than its sample has.</source>
            <translation>Das Urteil nennt eine andere Wahrscheinlichkeit, als seine Stichprobe hat.</translation>
        </message>
        <message>
            <source>The verdict that stands in its place, signed with the same key.</source>
            <translation>Das Urteil, das an seine Stelle tritt, mit demselben Schlüssel unterschrieben.</translation>
        </message>
        <message>
            <source>The verdict was not made by Counterfoil.</source>
            <translation>Das Urteil stammt nicht von Counterfoil.</translation>
        </message>
        <message>
            <source>The verdict {0} does not count. {1}</source>
            <translation>Das Urteil {0} zählt nicht. {1}</translation>
        </message>
        <message>
            <source>The verdict {0} was signed with a key that you have not confirmed.</source>
            <translation>Das Urteil {0} wurde mit einem Schlüssel unterschrieben, den Sie nicht bestätigt haben.</translation>
        </message>
        <message>
            <source>The verdict {0} was withdrawn by its auditor.</source>
            <translation>Das Urteil {0} wurde von seinem Prüfer widerrufen.</translation>
        </message>
        <message>
            <source>The verdict's comparisons do not lead from the run root to the disputed leaf.</source>
            <translation>Die Vergleiche des Urteils führen nicht von der Laufwurzel zum bestrittenen Blatt.</translation>
        </message>
        <message>
            <source>The verdict's dispute does not name the parts of the leaf once and in order.</source>
            <translation>Der Streitfall des Urteils nennt die Teile des Blatts nicht einmal und der Reihe nach.</translation>
        </message>
        <message>
            <source>The verdict's dispute is about a step's shares, and names no part of the step.</source>
            <translation>Der Streit des Urteils betrifft die Anteile eines Schritts und nennt keinen Teil des Schritts.</translation>
        </message>
        <message>
            <source>The verdict's dispute is confirmed without a finding, or has one without being confirmed.</source>
            <translation>Der Streitfall des Urteils ist ohne Befund bestätigt oder hat einen, ohne bestätigt zu sein.</translation>
        </message>
        <message>
            <source>The verdict's dispute names a data array twice.</source>
            <translation>Der Streitfall des Urteils nennt ein Datenfeld doppelt.</translation>
        </message>
        <message>
            <source>The verdict's dispute names a part of the step that does not differ, or not the first that does.</source>
            <translation>Der Streit des Urteils nennt einen Teil des Schritts, der nicht abweicht, oder nicht den ersten, der es tut.</translation>
        </message>
        <message>
            <source>The verdict's dispute names a party that answers for a share, and what differs is none.</source>
            <translation>Der Streit des Urteils nennt eine Partei, die für einen Anteil einsteht, und was abweicht, ist keiner.</translation>
        </message>
        <message>
            <source>The verdict's dispute names an operator although what the step read differs already.</source>
            <translation>Der Streitfall des Urteils nennt einen Operator, obwohl schon verschieden ist, was der Schritt las.</translation>
        </message>
        <message>
            <source>The verdict's dispute names an operator or rows of a combination, which has none.</source>
            <translation>Der Streit des Urteils nennt einen Operator oder Zeilen einer Zusammenführung, die keine hat.</translation>
        </message>
        <message>
            <source>The verdict's dispute names tensors that differ after a step whose state does not.</source>
            <translation>Der Streitfall des Urteils nennt Tensoren, die nach einem Schritt abweichen, dessen Zustand nicht abweicht.</translation>
        </message>
        <message>
            <source>The verdict's dispute names tensors that it did not compare.</source>
            <translation>Der Streitfall des Urteils nennt Tensoren, die es nicht verglichen hat.</translation>
        </message>
        <message>
            <source>The verdict's dispute names what differs first, and the fingerprints do not, or the other way round.</source>
            <translation>Der Streitfall des Urteils nennt, was zuerst abweicht, und die Fingerabdrücke weichen nicht ab, oder umgekehrt.</translation>
        </message>
        <message>
            <source>The verdict's dispute says of the loss what its two losses do not say.</source>
            <translation>Der Streitfall des Urteils sagt vom Verlust, was seine beiden Verluste nicht sagen.</translation>
        </message>
        <message>
            <source>The verdict's dispute was compared at a step that cannot be.</source>
            <translation>Der Streitfall des Urteils wurde bei einem unmöglichen Schritt verglichen.</translation>
        </message>
        <message>
            <source>The verdict's file lay elsewhere, and it does not say how much was fetched; or the other way round.</source>
            <translation>Die Datei des Urteils lag anderswo, und es sagt nicht, wie viel abgerufen wurde; oder umgekehrt.</translation>
        </message>
        <message>
            <source>The verdict's finding has a bound or a margin under an exact profile.</source>
            <translation>Der Befund des Urteils hat unter einem exakten Profil eine Schranke oder eine Toleranz.</translation>
        </message>
        <message>
            <source>The verdict's finding has a margin or a bound that cannot be.</source>
            <translation>Der Befund des Urteils hat eine unmögliche Toleranz oder Schranke.</translation>
        </message>
        <message>
            <source>The verdict's finding has a margin, a bound or elements, although nothing was recomputed.</source>
            <translation>Der Befund des Urteils hat eine Toleranz, eine Schranke oder Elemente, obwohl nichts nachgerechnet wurde.</translation>
        </message>
        <message>
            <source>The verdict's finding is about a log that cannot be read, and has elements.</source>
            <translation>Der Befund des Urteils gilt einem Protokoll, das nicht gelesen werden kann, und hat Elemente.</translation>
        </message>
        <message>
            <source>The verdict's finding is about an operator, and the dispute names none.</source>
            <translation>Der Befund des Urteils gilt einem Operator, und der Streitfall nennt keinen.</translation>
        </message>
        <message>
            <source>The verdict's finding is about more elements than were recomputed, or than there are.</source>
            <translation>Der Befund des Urteils gilt mehr Elementen, als nachgerechnet wurden oder als es gibt.</translation>
        </message>
        <message>
            <source>The verdict's finding is about the log, and its parts are not, or the other way round.</source>
            <translation>Der Befund des Urteils gilt dem Protokoll, und seine Teile tun es nicht, oder umgekehrt.</translation>
        </message>
        <message>
            <source>The verdict's finding shows an element that is the same on both sides.</source>
            <translation>Der Befund des Urteils zeigt ein Element, das auf beiden Seiten gleich ist.</translation>
        </message>
        <message>
            <source>The verdict's finding shows an element twice, or elements of different tensors.</source>
            <translation>Der Befund des Urteils zeigt ein Element doppelt oder Elemente verschiedener Tensoren.</translation>
        </message>
        <message>
            <source>The verdict's nonce is not the randomness of its beacon's round.</source>
            <translation>Die Nonce des Urteils ist nicht die Zufallszahl der Runde seines öffentlichen Signals.</translation>
        </message>
        <message>
            <source>The verdict's nonce is of a beacon that is not known.</source>
            <translation>Die Nonce des Urteils stammt von einem unbekannten öffentlichen Signal.</translation>
        </message>
        <message>
            <source>The verdict's nonce is of a round that its beacon did not sign.</source>
            <translation>Die Nonce des Urteils stammt von einer Runde, die das öffentliche Signal nicht unterschrieben hat.</translation>
        </message>
        <message>
            <source>The verdict's nonce is of a round that was published after the verdict.</source>
            <translation>Die Nonce des Urteils stammt von einer Runde, die nach dem Urteil veröffentlicht wurde.</translation>
        </message>
        <message>
            <source>The verdict's sample is incomplete, or says more than its selection allows.</source>
            <translation>Die Stichprobe des Urteils ist unvollständig oder sagt mehr, als ihre Auswahl erlaubt.</translation>
        </message>
        <message>
            <source>The verdict's sample is not the one that its nonce and the run root draw.</source>
            <translation>Die Stichprobe des Urteils ist nicht die, die seine Nonce und die Laufwurzel ziehen.</translation>
        </message>
        <message>
            <source>The verdict's sample was drawn from a run root that the verdict does not name.</source>
            <translation>Die Stichprobe des Urteils wurde aus einer Laufwurzel gezogen, die das Urteil nicht nennt.</translation>
        </message>
        <message>
            <source>The verdict's second subject is not the run.</source>
            <translation>Der zweite Gegenstand des Urteils ist nicht der Lauf.</translation>
        </message>
        <message>
            <source>The verdict's steering of {0} has a part that is larger than the whole.</source>
            <translation>In der Steuerbarkeit des Urteils ist bei {0} ein Teil größer als das Ganze.</translation>
        </message>
        <message>
            <source>The verdict's subjects should be the bundle file and the run.</source>
            <translation>Gegenstände des Urteils sollten die Bündeldatei und der Lauf sein.</translation>
        </message>
        <message>
            <source>The verdict's tensor {0} differs in more elements than it has, or in one that it lacks.</source>
            <translation>Der Tensor {0} des Urteils weicht in mehr Elementen ab, als er hat, oder in einem, das er nicht hat.</translation>
        </message>
        <message>
            <source>The verdict's tensor {0} does not differ as it says.</source>
            <translation>Der Tensor {0} des Urteils weicht nicht so ab, wie er sagt.</translation>
        </message>
        <message>
            <source>The verdict's tensor {0} has differences that do not fit each other.</source>
            <translation>Der Tensor {0} des Urteils hat Abweichungen, die nicht zueinander passen.</translation>
        </message>
        <message>
            <source>The verdict's third subject is not the model of a verified run.</source>
            <translation>Der dritte Gegenstand des Urteils ist nicht das Modell eines verifizierten Laufs.</translation>
        </message>
        <message>
            <source>The verdict's {0} are not in order.</source>
            <translation>Im Urteil nicht geordnet: {0}.</translation>
        </message>
        <message>
            <source>The verdict's {0} are not ranges of 1 to {1}.</source>
            <translation>Im Urteil keine Bereiche von 1 bis {1}: {0}.</translation>
        </message>
        <message>
            <source>The verdict, a .json file.</source>
            <translation>Das Urteil, eine .json-Datei.</translation>
        </message>
        <message>
            <source>The verdict, or adjudication, on your run: a .json file.</source>
            <translation>Das Urteil oder der Schiedsspruch über Ihren Lauf: eine .json-Datei.</translation>
        </message>
        <message>
            <source>The weight {0} has two adapters, and which of them was merged is not known.</source>
            <translation>Das Gewicht {0} hat zwei Adapter, und welcher davon eingerechnet wurde, ist nicht bekannt.</translation>
        </message>
        <message>
            <source>The weights are not the final state of the run; {0}.</source>
            <translation>Die Gewichte sind nicht der Endzustand des Laufs; {0}.</translation>
        </message>
        <message>
            <source>The weights are the final state of the run, after step {0}, and no verdict says that the run is verified.</source>
            <translation>Die Gewichte sind der Endzustand des Laufs, nach Schritt {0}, und kein Urteil sagt, dass der Lauf verifiziert ist.</translation>
        </message>
        <message>
            <source>The weights are the final state of the run, after step {0}, and only its trainer says that the run is verified.</source>
            <translation>Die Gewichte sind der Endzustand des Laufs, nach Schritt {0}, und nur sein Trainer sagt, dass der Lauf verifiziert ist.</translation>
        </message>
        <message>
            <source>The weights are the final state of the run, after step {0}, but nobody replayed the segment that ends in it: what was verified of the run says nothing about them.</source>
            <translation>Die Gewichte sind der Endzustand des Laufs, nach Schritt {0}, aber niemand hat das Segment nachgerechnet, das mit ihm endet: Was vom Lauf verifiziert wurde, sagt nichts über sie.</translation>
        </message>
        <message>
            <source>The weights are the final state of the verified run, after step {0}: {1} tensors, each {2}.</source>
            <translation>Die Gewichte sind der Endzustand des verifizierten Laufs, nach Schritt {0}: {1} Tensoren, {2}.</translation>
        </message>
        <message>
            <source>The window cannot be shown, because the system library libxcb-cursor is missing.</source>
            <translation>Das Fenster kann nicht gezeigt werden, weil die Systembibliothek libxcb-cursor fehlt.</translation>
        </message>
        <message>
            <source>The window cannot be shown, because this session has no display.</source>
            <translation>Das Fenster kann nicht gezeigt werden, weil diese Sitzung keinen Bildschirm hat.</translation>
        </message>
        <message>
            <source>The window cannot show any text, because its font {0} cannot be loaded.</source>
            <translation>Das Fenster kann keinen Text zeigen, weil sich seine Schrift {0} nicht laden lässt.</translation>
        </message>
        <message>
            <source>The witness has ended.</source>
            <translation>Der Zeuge hat aufgehört.</translation>
        </message>
        <message>
            <source>The work was cancelled; nothing was concluded.</source>
            <translation>Die Arbeit wurde abgebrochen; es wurde nichts geschlossen.</translation>
        </message>
        <message>
            <source>The {0} contradicts itself.</source>
            <translation>Widerspricht sich selbst: {0}.</translation>
        </message>
        <message>
            <source>The {0} contradicts itself: {1}.</source>
            <translation>Die Aussage ({0}) widerspricht sich: {1}.</translation>
        </message>
        <message>
            <source>The {0} does not count. {1}</source>
            <translation>Dies zählt nicht: {0}. {1}</translation>
        </message>
        <message>
            <source>The {0} has a path of {1} hashes.</source>
            <translation>Der {0} hat einen Pfad von {1} Hashes.</translation>
        </message>
        <message>
            <source>The {0} has another sentence in its template and values than in its text, under {1}: in another language it would say something else.</source>
            <translation>Das {0} hat in Vorlage und Werten einen anderen Satz als im Text, unter {1}: In einer anderen Sprache würde es etwas anderes sagen.</translation>
        </message>
        <message>
            <source>The {0} has format {1}; this Counterfoil reads format {2}.</source>
            <translation>Die Datei ({0}) hat das Format {1}; dieses Counterfoil liest Format {2}.</translation>
        </message>
        <message>
            <source>The {0} has more than {1} lines.</source>
            <translation>Mehr als {1} Zeilen: {0}.</translation>
        </message>
        <message>
            <source>The {0} has paths that are none.</source>
            <translation>Der {0} hat Pfade, die keine sind.</translation>
        </message>
        <message>
            <source>The {0} has the dtype {1}; supported are {2}.</source>
            <translation>Der Typ ist {1}; unterstützt werden {2}. Es geht um: {0}.</translation>
        </message>
        <message>
            <source>The {0} has the unknown field {1}.</source>
            <translation>Das Feld {1} ist unbekannt ({0}).</translation>
        </message>
        <message>
            <source>The {0} holds {1}, which its format and its order do not know.</source>
            <translation>Die Datei ({0}) enthält {1}, was ihr Format und ihr Auftrag nicht kennen.</translation>
        </message>
        <message>
            <source>The {0} in the file is empty.</source>
            <translation>In der Datei ist leer: {0}.</translation>
        </message>
        <message>
            <source>The {0} is about the order {1}, but the file holds the order {2}.</source>
            <translation>Die Erklärung ({0}) gilt dem Auftrag {1}, aber die Datei enthält den Auftrag {2}.</translation>
        </message>
        <message>
            <source>The {0} is empty, or its last line is torn.</source>
            <translation>Leer, oder die letzte Zeile ist abgerissen: {0}.</translation>
        </message>
        <message>
            <source>The {0} is longer than {1} bytes.</source>
            <translation>Zu lang ({0}): mehr als {1} Bytes.</translation>
        </message>
        <message>
            <source>The {0} is not a JSON object.</source>
            <translation>Das ist kein JSON-Objekt: {0}.</translation>
        </message>
        <message>
            <source>The {0} is not a SHA-256 digest.</source>
            <translation>Das ist kein SHA-256-Digest: {0}.</translation>
        </message>
        <message>
            <source>The {0} is not about the rows of one order.</source>
            <translation>Die {0} handelt nicht von den Zeilen eines einzigen Auftrags.</translation>
        </message>
        <message>
            <source>The {0} is of another format than {1}.</source>
            <translation>Der {0} hat ein anderes Format als {1}.</translation>
        </message>
        <message>
            <source>The {0} lacks the field {1}.</source>
            <translation>Das Feld {1} fehlt ({0}).</translation>
        </message>
        <message>
            <source>The {0} lacks {1}.</source>
            <translation>In der Datei ({0}) fehlt {1}.</translation>
        </message>
        <message>
            <source>The {0} names a key, and has no signature of it.</source>
            <translation>Ein Schlüssel ist genannt, und eine Unterschrift von ihm fehlt ({0}).</translation>
        </message>
        <message>
            <source>The {0} names another public key than the one that signed it.</source>
            <translation>Die Erklärung ({0}) nennt einen anderen öffentlichen Schlüssel als den, der sie unterschrieben hat.</translation>
        </message>
        <message>
            <source>The {0} names no public key that Counterfoil takes.</source>
            <translation>{0}: Es wird kein öffentlicher Schlüssel genannt, den Counterfoil annimmt.</translation>
        </message>
        <message>
            <source>The {0} names no public key that Counterfoil takes. {1}</source>
            <translation>{0}: Es wird kein öffentlicher Schlüssel genannt, den Counterfoil annimmt. {1}</translation>
        </message>
        <message>
            <source>The {0} names other parties than the order has, who answer for shares of its steps.</source>
            <translation>Andere Parteien als der Auftrag für Anteile seiner Schritte nennt dies: {0}.</translation>
        </message>
        <message>
            <source>The {0} names {1} files; it should name 1 to {2}.</source>
            <translation>Die {0} nennt {1} Dateien; es sollten 1 bis {2} sein.</translation>
        </message>
        <message>
            <source>The {0} of {1} were chosen by the auditor; nothing follows for the others.</source>
            <translation>Von allen ({1}) hat der Prüfer {0} gewählt; für die anderen folgt daraus nichts.</translation>
        </message>
        <message>
            <source>The {0} of {1} were drawn at random after the run was signed; a run with at least {2} bad segment{3} would have passed with probability {4}.</source>
            <translation>Von allen ({1}) wurden {0} zufällig gezogen, nachdem der Lauf unterschrieben war; ein Lauf, in dem mindestens {2} davon schlecht sind, wäre mit der Wahrscheinlichkeit {4} durchgekommen.</translation>
        </message>
        <message>
            <source>The {0} of {1} were drawn by round {5} of the public beacon {6}, published at {7}; if the run was signed before that, a run with at least {2} bad segment{3} would have passed with probability {4}.</source>
            <translation>Von allen ({1}) wurden {0} durch Runde {5} des öffentlichen Signals {6} gezogen, veröffentlicht um {7}; wurde der Lauf davor unterschrieben, so wäre ein Lauf, in dem mindestens {2} davon schlecht sind, mit der Wahrscheinlichkeit {4} durchgekommen.</translation>
        </message>
        <message>
            <source>The {0} of {1} were drawn with a nonce that was given to the audit; if the trainer could not know it before the run was signed, a run with at least {2} bad segment{3} would have passed with probability {4}.</source>
            <translation>Von allen ({1}) wurden {0} mit einer Nonce gezogen, die der Prüfung angegeben wurde; konnte der Trainer sie nicht kennen, bevor der Lauf unterschrieben war, so wäre ein Lauf, in dem mindestens {2} davon schlecht sind, mit der Wahrscheinlichkeit {4} durchgekommen.</translation>
        </message>
        <message>
            <source>The {0} revokes the key that signed it.</source>
            <translation>Der Schlüssel, der unterschrieben hat, wird selbst widerrufen ({0}).</translation>
        </message>
        <message>
            <source>The {0} speaks of no array of rows.</source>
            <translation>Der {0} handelt von keinem Array mit Zeilen.</translation>
        </message>
        <message>
            <source>The {0} steps have the signed run root {1}.</source>
            <translation>Die {0} Schritte haben die unterschriebene Laufwurzel {1}.</translation>
        </message>
        <message>
            <source>The {0} would be longer than {1} bytes.</source>
            <translation>Wäre länger als {1} Byte: {0}.</translation>
        </message>
        <message>
            <source>There are no rows to be shown: this part of the step reads none.</source>
            <translation>Es gibt keine Zeilen zu zeigen: Dieser Teil des Schritts liest keine.</translation>
        </message>
        <message>
            <source>There are {0} bytes to sign; the signer takes {1}.</source>
            <translation>Zu unterschreiben sind {0} Bytes; der unterschreibende Prozess nimmt {1} an.</translation>
        </message>
        <message>
            <source>There are {0} certificates; {1} of {2} bytes are allowed.</source>
            <translation>Es sind {0} Zertifikate; erlaubt sind {1} zu je {2} Bytes.</translation>
        </message>
        <message>
            <source>There is already a file {0}.</source>
            <translation>Es gibt schon eine Datei {0}.</translation>
        </message>
        <message>
            <source>There is no column {0}; there are {1}.</source>
            <translation>Eine Spalte {0} gibt es nicht; es gibt {1}.</translation>
        </message>
        <message>
            <source>There is no consistency proof from {0} to {1} leaves.</source>
            <translation>Es gibt keinen Konsistenzbeweis von {0} zu {1} Blättern.</translation>
        </message>
        <message>
            <source>There is no exact value to hold the operator {0} against, because {1}, so neither side can be shown to be wrong.</source>
            <translation>Zum Operator {0} gibt es keinen exakten Wert zum Vergleich ({1}), daher lässt sich keiner Seite ein Fehler nachweisen.</translation>
        </message>
        <message>
            <source>There is no file {0}.</source>
            <translation>Es gibt keine Datei {0}.</translation>
        </message>
        <message>
            <source>There is no folder for the temporary files of a replay: {0}.</source>
            <translation>Es gibt keinen Ordner für die temporären Dateien einer Nachrechnung: {0}.</translation>
        </message>
        <message>
            <source>There is no folder for what was sealed: {0}.</source>
            <translation>Es gibt keinen Ordner für das, was versiegelt war: {0}.</translation>
        </message>
        <message>
            <source>There is no folder {0} with keys that are trusted.</source>
            <translation>Es gibt keinen Ordner {0} mit Schlüsseln, denen vertraut wird.</translation>
        </message>
        <message>
            <source>There is no folder {0}.</source>
            <translation>Es gibt keinen Ordner {0}.</translation>
        </message>
        <message>
            <source>There is no operator to be shown: no fingerprint of an operator differs in this part of the step.</source>
            <translation>Es gibt keinen Operator zu zeigen: In diesem Teil des Schritts weicht kein Fingerabdruck eines Operators ab.</translation>
        </message>
        <message>
            <source>There is no room for {0} in {1}: it needs {2}, and {3} are free.</source>
            <translation>Zu wenig Platz in {1} ({0}): gebraucht werden {2}, frei sind {3}.</translation>
        </message>
        <message>
            <source>There is no rounding log: under an exact profile every result is defined by mathematics.</source>
            <translation>Es gibt kein Rundungsprotokoll: Unter einem exakten Profil ist jedes Ergebnis durch die Mathematik festgelegt.</translation>
        </message>
        <message>
            <source>There is no tensor in {0}.</source>
            <translation>In {0} ist kein Tensor.</translation>
        </message>
        <message>
            <source>There is no terminal to ask for the passphrase on.</source>
            <translation>Es gibt kein Terminal, um nach dem Passwort zu fragen.</translation>
        </message>
        <message>
            <source>There is no verdict to sign: the bundle file could not be read, or changed while it was read.</source>
            <translation>Es gibt kein Urteil zu unterschreiben: Die Bündeldatei konnte nicht gelesen werden oder änderte sich, während sie gelesen wurde.</translation>
        </message>
        <message>
            <source>There is no verdict to sign: the run was replayed on imitated hardware.</source>
            <translation>Es gibt kein Urteil zu unterschreiben: Der Lauf wurde auf nachgeahmter Hardware nachgerechnet.</translation>
        </message>
        <message>
            <source>There is not just one token called {0}.</source>
            <translation>Es gibt nicht genau ein Token namens {0}.</translation>
        </message>
        <message>
            <source>There is nothing to compare with one run.</source>
            <translation>Mit einem einzigen Lauf gibt es nichts zu vergleichen.</translation>
        </message>
        <message>
            <source>There is nothing to sign: the capsule could not be read, or changed while it was read.</source>
            <translation>Es gibt nichts zu unterschreiben: Die Kapsel konnte nicht gelesen werden oder änderte sich, während sie gelesen wurde.</translation>
        </message>
        <message>
            <source>These are all {0}.</source>
            <translation>Das ist der ganze Lauf ({0}).</translation>
        </message>
        <message>
            <source>These are the values of the replay here.</source>
            <translation>Dies sind die Werte der Nachrechnung hier.</translation>
        </message>
        <message>
            <source>They differ from the beginning: the initial states are not the same.</source>
            <translation>Sie weichen von Anfang an voneinander ab: Die Anfangszustände sind nicht dieselben.</translation>
        </message>
        <message>
            <source>This command prints the id of the key in the folder:</source>
            <translation>Dieser Befehl zeigt die Kennung des Schlüssels im Ordner:</translation>
        </message>
        <message>
            <source>This is a number; a condition compares it, for instance {0}.</source>
            <translation>Das ist eine Zahl; eine Bedingung vergleicht sie, zum Beispiel {0}.</translation>
        </message>
        <message>
            <source>This is an order that nobody has run yet.</source>
            <translation>Das ist ein Auftrag, den noch niemand ausgeführt hat.</translation>
        </message>
        <message>
            <source>This is confirmed. In several steps, the last of them step {0}, the trainer rounded values the other way and left that out of its log, where every sound recorder writes it down.</source>
            <translation>Das ist bestätigt. In mehreren Schritten, zuletzt in Schritt {0}, hat der Trainer Werte zur anderen Seite gerundet und das in seinem Protokoll ausgelassen, wo jede einwandfreie Aufzeichnung es festhält.</translation>
        </message>
        <message>
            <source>This is confirmed. Starting from the agreed state before step {0}, the ordered step comes to no result, by either of two algorithms, and no sound machine has what the trainer signed.</source>
            <translation>Das ist bestätigt. Vom gemeinsamen Zustand vor Schritt {0} aus kommt der bestellte Schritt zu keinem Ergebnis, nach keinem von zwei Algorithmen, und keine einwandfreie Maschine hat, was der Trainer unterschrieben hat.</translation>
        </message>
        <message>
            <source>This is confirmed. Starting from the agreed state before step {0}, the ordered step gives something else than the trainer signed ({1}).</source>
            <translation>Das ist bestätigt. Vom gemeinsamen Zustand vor Schritt {0} aus ergibt der bestellte Schritt etwas anderes, als der Trainer unterschrieben hat ({1}).</translation>
        </message>
        <message>
            <source>This is list {0} of revoked keys, and list {1} is known.</source>
            <translation>Dies ist Liste {0} widerrufener Schlüssel, bekannt ist Liste {1}.</translation>
        </message>
        <message>
            <source>This is neither a step, a hash, nor a condition such as {0}.</source>
            <translation>Das ist weder ein Schritt noch ein Hash noch eine Bedingung wie {0}.</translation>
        </message>
        <message>
            <source>This is no file of X.509 certificates in PEM form.</source>
            <translation>Das ist keine Datei mit X.509-Zertifikaten in PEM-Form.</translation>
        </message>
        <message>
            <source>This is not a public key in PEM form.</source>
            <translation>Das ist kein öffentlicher Schlüssel in PEM-Form.</translation>
        </message>
        <message>
            <source>This is not confirmed. A second replay of the step, with every sum taken in another order, has not given the same result, so the difference may come from this machine. The trainer is not accused.</source>
            <translation>Das ist nicht bestätigt. Eine zweite Nachrechnung des Schritts, in der jede Summe in anderer Reihenfolge gebildet wurde, ergab nicht dasselbe; der Unterschied kann also von diesem Rechner kommen. Dem Trainer wird nichts vorgeworfen.</translation>
        </message>
        <message>
            <source>This is not the name of a key in hardware (RFC 7512): {0}.</source>
            <translation>Dies ist nicht der Name eines Schlüssels in Hardware (RFC 7512): {0}.</translation>
        </message>
        <message>
            <source>This machine computes as it should</source>
            <translation>Dieser Rechner rechnet, wie er soll</translation>
        </message>
        <message>
            <source>This machine computes {0} wrongly, so nothing can be concluded from a replay on it.</source>
            <translation>Dieser Rechner rechnet falsch ({0}); aus einer Nachrechnung auf ihm lässt sich daher nichts schließen.</translation>
        </message>
        <message>
            <source>This machine does not give its own result again when reductions run in another order: its arithmetic lies outside the margin.</source>
            <translation>Dieser Rechner gibt sein eigenes Ergebnis nicht wieder, wenn Summen in anderer Folge gebildet werden: Seine Arithmetik liegt außerhalb der Spanne.</translation>
        </message>
        <message>
            <source>This machine does not give the same values again when it replays the step, so nothing that it computes can accuse anybody. Replay the run on another machine.</source>
            <translation>Dieser Rechner liefert beim Nachrechnen des Schritts nicht noch einmal dieselben Werte; was er rechnet, kann daher niemanden belasten. Rechnen Sie den Lauf auf einem anderen Rechner nach.</translation>
        </message>
        <message>
            <source>This machine has no device {0}.</source>
            <translation>Dieser Rechner hat kein Gerät {0}.</translation>
        </message>
        <message>
            <source>This machine has no ssh.</source>
            <translation>Dieser Rechner hat kein ssh.</translation>
        </message>
        <message>
            <source>This machine has too little memory left for the job.</source>
            <translation>Dieser Rechner hat zu wenig freien Speicher für die Aufgabe.</translation>
        </message>
        <message>
            <source>This machine's values at the operator {0} are off the exact ones by up to {1:.3g} times the error bound, so nothing that it computes can accuse anybody. Replay the run on another machine.</source>
            <translation>Die Werte dieses Rechners beim Operator {0} liegen um bis zu das {1:.3g}-Fache der Fehlerschranke neben den exakten; was er rechnet, kann daher niemanden belasten. Rechnen Sie den Lauf auf einem anderen Rechner nach.</translation>
        </message>
        <message>
            <source>This order's rows are not its data's: it picks rows of a batch, or cuts windows out of a text.</source>
            <translation>Die Zeilen dieses Auftrags sind nicht die seiner Daten: Er wählt Zeilen eines Batches aus oder schneidet Fenster aus einem Text.</translation>
        </message>
        <message>
            <source>This signer has already signed what it was started to sign.</source>
            <translation>Dieser Prozess hat schon unterschrieben, wofür er gestartet wurde.</translation>
        </message>
        <message>
            <source>This signer signs {0}, and nothing else.</source>
            <translation>Dieser Prozess unterschreibt {0} und sonst nichts.</translation>
        </message>
        <message>
            <source>Train low-rank adapters and leave the model's weights as they are: r=8, or r=8,alpha=16,dropout=0.05,modules=q_proj+v_proj.</source>
            <translation>Adapter von niedrigem Rang trainieren und die Gewichte des Modells lassen, wie sie sind: r=8, oder r=8,alpha=16,dropout=0.05,modules=q_proj+v_proj.</translation>
        </message>
        <message>
            <source>Trainer</source>
            <translation>Trainer</translation>
        </message>
        <message>
            <source>Trainer: answer a verdict on your run, with the key that signed the run.</source>
            <translation>Trainer: auf ein Urteil über den eigenen Lauf antworten, mit dem Schlüssel, der den Lauf unterschrieben hat.</translation>
        </message>
        <message>
            <source>Training steps.</source>
            <translation>Trainingsschritte.</translation>
        </message>
        <message>
            <source>Transformer blocks.</source>
            <translation>Transformer-Blöcke.</translation>
        </message>
        <message>
            <source>Triton's kernels</source>
            <translation>Kernel von Triton</translation>
        </message>
        <message>
            <source>Try again with care: a token locks itself after a few wrong ones.</source>
            <translation>Versuchen Sie es mit Bedacht noch einmal: Ein Token sperrt sich nach wenigen falschen.</translation>
        </message>
        <message>
            <source>Try again.</source>
            <translation>Versuchen Sie es noch einmal.</translation>
        </message>
        <message>
            <source>Two Merkle trees of the same size have different roots.</source>
            <translation>Zwei gleich große Merkle-Bäume haben verschiedene Wurzeln.</translation>
        </message>
        <message>
            <source>Two files hold the tensor {0}; one of them is {1}.</source>
            <translation>Zwei Dateien enthalten den Tensor {0}; eine davon ist {1}.</translation>
        </message>
        <message>
            <source>Two files would both be written to {0}.</source>
            <translation>Zwei Dateien würden beide in {0} geschrieben.</translation>
        </message>
        <message>
            <source>Two inputs of the program have the same name.</source>
            <translation>Zwei Eingaben des Programms haben denselben Namen.</translation>
        </message>
        <message>
            <source>Two parts of the file share the same place, byte {0}, which is not allowed.</source>
            <translation>Zwei Teile der Datei teilen sich dieselbe Stelle, Byte {0}, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>Two per-step scalars have the same name.</source>
            <translation>Zwei Skalare der Schritte haben denselben Namen.</translation>
        </message>
        <message>
            <source>Under this profile every result is defined by mathematics, so of two different elements one is wrong. At the operator {0}, whose inputs agree, element {1} is {2}, computed in integers, as this machine has it; the trainer's fingerprint shows {3}.</source>
            <translation>Unter diesem Profil ist jedes Ergebnis durch die Mathematik festgelegt; von zwei verschiedenen Elementen ist also eines falsch. Beim Operator {0}, dessen Eingaben übereinstimmen, ist das Element {1}, in ganzen Zahlen berechnet, {2}, wie dieser Rechner es hat; der Fingerabdruck des Trainers zeigt {3}.</translation>
        </message>
        <message>
            <source>Under this profile every result is defined by mathematics, so of two different elements one is wrong. At the operator {0}, whose inputs agree, integer arithmetic gives the trainer's value and not this machine's: this machine's arithmetic is off. Replay the run on another machine.</source>
            <translation>Unter diesem Profil ist jedes Ergebnis durch die Mathematik festgelegt; von zwei verschiedenen Elementen ist also eines falsch. Beim Operator {0}, dessen Eingaben übereinstimmen, ergibt die Rechnung in ganzen Zahlen den Wert des Trainers und nicht den dieses Rechners: Die Arithmetik dieses Rechners ist falsch. Rechnen Sie den Lauf auf einem anderen Rechner nach.</translation>
        </message>
        <message>
            <source>Under this profile every result is defined by mathematics, so of two different elements one is wrong. At the operator {0}, whose inputs agree, {1} {2} elements were computed in integers, and this machine's are these; the trainer's fingerprint belongs to others.</source>
            <translation>Unter diesem Profil ist jedes Ergebnis durch die Mathematik festgelegt; von zwei verschiedenen Elementen ist also eines falsch. Beim Operator {0}, dessen Eingaben übereinstimmen, wurden {1} {2} Elemente in ganzen Zahlen berechnet, und dieser Rechner hat eben diese; der Fingerabdruck des Trainers gehört zu anderen.</translation>
        </message>
        <message>
            <source>Under this profile every result is defined by mathematics. At the operator {0} integer arithmetic gives other elements than this machine, so nothing that it computes can accuse anybody. Replay the run on another machine.</source>
            <translation>Unter diesem Profil ist jedes Ergebnis durch die Mathematik festgelegt. Beim Operator {0} ergibt die Rechnung in ganzen Zahlen andere Elemente als dieser Rechner; was er rechnet, kann daher niemanden belasten. Rechnen Sie den Lauf auf einem anderen Rechner nach.</translation>
        </message>
        <message>
            <source>Under this profile every result is defined by mathematics. At the operator {0}, whose inputs agree with what the trainer signed, element {1}, computed in integers, lies beyond float32's range, and no argument is infinite: then a step has no result on any machine, so nobody can have recorded one.</source>
            <translation>Unter diesem Profil ist jedes Ergebnis durch Mathematik bestimmt. Beim Operator {0}, dessen Eingaben mit dem übereinstimmen, was der Trainer unterschrieben hat, liegt Element {1}, in ganzen Zahlen berechnet, außerhalb des Bereichs von float32, und kein Argument ist unendlich: Dann hat ein Schritt auf keiner Maschine ein Ergebnis, es kann also niemand eines aufgezeichnet haben.</translation>
        </message>
        <message>
            <source>Unlock it with the tool of its maker; that takes the security officer's PIN, or the PUK.</source>
            <translation>Entsperren Sie es mit dem Werkzeug des Herstellers; das braucht die PIN des Verwalters (SO-PIN) oder die PUK.</translation>
        </message>
        <message>
            <source>Until now, another key signed runs of this order, so it is open who trained.</source>
            <translation>Bis jetzt hat ein anderer Schlüssel Läufe dieses Auftrags unterschrieben; wer trainiert hat, ist also offen.</translation>
        </message>
        <message>
            <source>Until then no case is shown.</source>
            <translation>Bis dahin wird kein Fall gezeigt.</translation>
        </message>
        <message>
            <source>Until then nothing is known of keys: which ones you know, and which ones were revoked.</source>
            <translation>Bis dahin ist über Schlüssel nichts bekannt: weder, welche Sie kennen, noch, welche widerrufen wurden.</translation>
        </message>
        <message>
            <source>Use Linux 6.7 or later with Landlock and seccomp; in a container let it use both. Until then open runs of strangers on a machine that has nothing else on it.</source>
            <translation>Verwenden Sie Linux 6.7 oder neuer mit Landlock und seccomp; erlauben Sie in einem Container beides. Öffnen Sie bis dahin Läufe von Fremden auf einem Rechner, auf dem sonst nichts liegt.</translation>
        </message>
        <message>
            <source>Use a 64-bit Python {0} to {1}.</source>
            <translation>Verwenden Sie ein Python {0} bis {1} mit 64 Bit.</translation>
        </message>
        <message>
            <source>Use a Counterfoil of the version that wrote it.</source>
            <translation>Benutzen Sie ein Counterfoil der Version, die sie geschrieben hat.</translation>
        </message>
        <message>
            <source>Use a number of at most 3.4e38, or infinity.</source>
            <translation>Verwenden Sie eine Zahl bis 3.4e38 oder unendlich.</translation>
        </message>
        <message>
            <source>Use another machine; if this one is sound, report the versions of torch and numpy.</source>
            <translation>Nehmen Sie einen anderen Rechner; ist dieser in Ordnung, so melden Sie die Versionen von torch und numpy.</translation>
        </message>
        <message>
            <source>Use cpu, or cuda:0.</source>
            <translation>Benutzen Sie cpu oder cuda:0.</translation>
        </message>
        <message>
            <source>Use cuda:0 to cuda:{0}.</source>
            <translation>Benutzen Sie cuda:0 bis cuda:{0}.</translation>
        </message>
        <message>
            <source>Use only so many images, the first ones.</source>
            <translation>Nur so viele Bilder verwenden, die ersten.</translation>
        </message>
        <message>
            <source>Use that version of Counterfoil, or discard it: --fresh.</source>
            <translation>Verwenden Sie jene Version von Counterfoil, oder verwerfen Sie sie: --fresh.</translation>
        </message>
        <message>
            <source>Use the device cpu, or one of NVIDIA.</source>
            <translation>Nehmen Sie das Gerät cpu oder eines von NVIDIA.</translation>
        </message>
        <message>
            <source>Use the device cpu.</source>
            <translation>Benutzen Sie das Gerät cpu.</translation>
        </message>
        <message>
            <source>Use the device, the number of threads and the versions that it was begun with; or start again: --fresh.</source>
            <translation>Verwenden Sie das Gerät, die Zahl der Threads und die Versionen, mit denen sie begonnen wurde; oder beginnen Sie neu: --fresh.</translation>
        </message>
        <message>
            <source>Use {0}.</source>
            <translation>Benutzen Sie {0}.</translation>
        </message>
        <message>
            <source>Versions</source>
            <translation>Versionen</translation>
        </message>
        <message>
            <source>Wait for it, or stop it, or give the run another name.</source>
            <translation>Warten Sie auf ihn, halten Sie ihn an, oder geben Sie dem Lauf einen anderen Namen.</translation>
        </message>
        <message>
            <source>Wait until it has ended, or give another name.</source>
            <translation>Warten Sie, bis er beendet ist, oder geben Sie einen anderen Namen an.</translation>
        </message>
        <message>
            <source>Waiting until step {0} is recorded.</source>
            <translation>Wartet, bis Schritt {0} aufgezeichnet ist.</translation>
        </message>
        <message>
            <source>Waiting until the recording begins.</source>
            <translation>Wartet, bis die Aufzeichnung beginnt.</translation>
        </message>
        <message>
            <source>Waiting until the run is made of the recording.</source>
            <translation>Wartet, bis aus der Aufzeichnung der Lauf gemacht ist.</translation>
        </message>
        <message>
            <source>Waiting until the state after step {0} is stored.</source>
            <translation>Wartet, bis der Zustand nach Schritt {0} gespeichert ist.</translation>
        </message>
        <message>
            <source>Weight decay of matrices and embeddings.</source>
            <translation>Weight Decay von Matrizen und Embeddings.</translation>
        </message>
        <message>
            <source>What a party added in step {0} is not what its share gave.</source>
            <translation>Was eine Partei in Schritt {0} addierte, ist nicht, was ihr Anteil ergab.</translation>
        </message>
        <message>
            <source>What a share gives as {0} holds a value that is infinite, not a number, or beyond float32's range.</source>
            <translation>Was ein Anteil als {0} ergibt, enthält einen Wert, der unendlich, keine Zahl oder außerhalb des Bereichs von float32 ist.</translation>
        </message>
        <message>
            <source>What computes for a stranger has no box. Unset it, unless you trust every file.</source>
            <translation>Was für Fremde rechnet, hat keinen Kasten. Entfernen Sie die Variable, wenn Sie nicht jeder Datei vertrauen.</translation>
        </message>
        <message>
            <source>What differs is share {0}: every share of a step is judged by itself.</source>
            <translation>Was abweicht, ist Anteil {0}: Jeder Anteil eines Schritts wird für sich beurteilt.</translation>
        </message>
        <message>
            <source>What differs is the combination of the shares, from what was signed as theirs.</source>
            <translation>Was abweicht, ist die Zusammenführung der Anteile, aus dem, was als ihres unterschrieben wurde.</translation>
        </message>
        <message>
            <source>What differs is the update of what was signed as the combination of the shares.</source>
            <translation>Was abweicht, ist die Aktualisierung, aus dem, was als Zusammenführung der Anteile unterschrieben wurde.</translation>
        </message>
        <message>
            <source>What is signed is not a verdict of Counterfoil.</source>
            <translation>Was unterschrieben wurde, ist kein Urteil von Counterfoil.</translation>
        </message>
        <message>
            <source>What is signed is not the {0}.</source>
            <translation>Was unterschrieben ist, ist etwas anderes: verlangt war: {0}.</translation>
        </message>
        <message>
            <source>What it is about, to compare it with: of a verdict the bundle, of facts and rows the run, of a note the order, of rules the rules and the run, of a withdrawal or reply the verdict, of a release its files.</source>
            <translation>Wovon sie handelt, zum Vergleich: bei einem Urteil das Bündel, bei Angaben und Zeilen der Lauf, bei einem Vermerk der Auftrag, bei Regeln die Regeln und der Lauf, bei einem Widerruf oder einer Erwiderung das Urteil, bei einer Veröffentlichung ihre Dateien.</translation>
        </message>
        <message>
            <source>What share {0} of step {1} gave is not what the ordered step gives.</source>
            <translation>Was Anteil {0} von Schritt {1} ergab, ist nicht, was der bestellte Schritt ergibt.</translation>
        </message>
        <message>
            <source>What the data call these columns, as for 'order hf'.</source>
            <translation>Wie die Daten diese Spalten nennen, wie bei „order hf“.</translation>
        </message>
        <message>
            <source>What the data call these columns: text=content, or prompt=question,completion=answer.</source>
            <translation>Wie diese Spalten in den Daten heißen: text=content, oder prompt=question,completion=answer.</translation>
        </message>
        <message>
            <source>What the last checkpoint leaves out is not written properly.</source>
            <translation>Was der letzte gespeicherte Zustand auslässt, ist nicht richtig aufgeschrieben.</translation>
        </message>
        <message>
            <source>What the model is for.</source>
            <translation>Wofür das Modell ist.</translation>
        </message>
        <message>
            <source>What the model is trained for.</source>
            <translation>Wofür das Modell trainiert wird.</translation>
        </message>
        <message>
            <source>What the process that writes orders said cannot be read.</source>
            <translation>Was der Prozess gesagt hat, der Aufträge schreibt, kann nicht gelesen werden.</translation>
        </message>
        <message>
            <source>What the script decides by a value of its training beyond the steps that are compared, with --script: yes or no, or train.py:42=yes for one line.</source>
            <translation>Was das Skript nach einem Wert seines Trainings entscheidet, jenseits der verglichenen Schritte, bei --script: yes oder no, oder train.py:42=yes für eine Zeile.</translation>
        </message>
        <message>
            <source>What the script of an evaluation calls counts that have a meaning: counted=total,correct=hits, and nats=loss_sum of the number that adds up losses, of which perplexity follows.</source>
            <translation>Wie das Skript einer Auswertung Zähler nennt, die etwas bedeuten: counted=total,correct=hits, und nats=loss_sum für die Zahl, die Verluste aufaddiert, aus der die Perplexität folgt.</translation>
        </message>
        <message>
            <source>What the shares in the capsule give of {0} is infinite or not a number.</source>
            <translation>Was die Anteile in der Kapsel von {0} ergeben, ist unendlich oder keine Zahl.</translation>
        </message>
        <message>
            <source>What the trainer signed after step {0} is not what the ordered step gives.</source>
            <translation>Was der Trainer nach Schritt {0} unterschrieb, ist nicht das Ergebnis des bestellten Schritts.</translation>
        </message>
        <message>
            <source>What the trainer signed for step {0} differs from this machine's result.</source>
            <translation>Was der Trainer für Schritt {0} unterschrieben hat, weicht vom Ergebnis dieses Rechners ab.</translation>
        </message>
        <message>
            <source>What the trainer signed for step {0} is not what the ordered step gives.</source>
            <translation>Was der Trainer für Schritt {0} unterschrieben hat, ist nicht, was der bestellte Schritt ergibt.</translation>
        </message>
        <message>
            <source>What this does not say</source>
            <translation>Was dies nicht sagt</translation>
        </message>
        <message>
            <source>What to score it on, as for 'order hf'.</source>
            <translation>Worauf es bewertet wird, wie bei „order hf“.</translation>
        </message>
        <message>
            <source>What was added of share {0} of step {1} is not what its party signed. The trainer put the run together of shares that their parties did not sign, or the file was altered.</source>
            <translation>Was von Anteil {0} von Schritt {1} addiert wurde, ist nicht, was seine Partei unterschrieben hat. Der Trainer hat den Lauf aus Anteilen zusammengesetzt, die ihre Parteien nicht unterschrieben haben, oder die Datei wurde verändert.</translation>
        </message>
        <message>
            <source>What was delivered is all that training changed, in the final state of the verified run, after step {0}: {1} tensors, each {2}.</source>
            <translation>Geliefert wurde alles, was das Training geändert hat, im Endzustand des verifizierten Laufs, nach Schritt {0}: {1} Tensoren, jeder {2}.</translation>
        </message>
        <message>
            <source>What was done is kept: --resume goes on from there.</source>
            <translation>Was getan ist, bleibt: --resume geht von dort aus weiter.</translation>
        </message>
        <message>
            <source>What was given as the passphrase is too long for one.</source>
            <translation>Was als Passwort angegeben wurde, ist zu lang dafür.</translation>
        </message>
        <message>
            <source>What was recorded is checked.</source>
            <translation>Was aufgezeichnet ist, wird geprüft.</translation>
        </message>
        <message>
            <source>What you say to it.</source>
            <translation>Was Sie dazu sagen.</translation>
        </message>
        <message>
            <source>What {0} holds is too long for a passphrase.</source>
            <translation>Was in {0} steht, ist zu lang für ein Passwort.</translation>
        </message>
        <message>
            <source>What {0} is cannot be said: the process that looked at it ended, or took too long.</source>
            <translation>Was {0} ist, lässt sich nicht sagen: Der Prozess, der sie angesehen hat, endete oder brauchte zu lange.</translation>
        </message>
        <message>
            <source>Where masks are large negative numbers, use minus infinity in their place. {0}</source>
            <translation>Wo Masken große negative Zahlen sind, benutzen Sie statt ihrer minus unendlich. {0}</translation>
        </message>
        <message>
            <source>Where the runs part, each is right with its own rounding log: their hardware rounded a value differently. From there on they are different runs, and every later step of both is what was ordered; audit each of them.</source>
            <translation>Wo die Läufe auseinandergehen, hat jeder mit seinem eigenen Rundungsprotokoll recht: Ihre Hardware rundete einen Wert verschieden. Von da an sind es verschiedene Läufe, und jeder spätere Schritt beider ist, was beauftragt war; prüfen Sie jeden für sich.</translation>
        </message>
        <message>
            <source>Where to compute: cpu, cuda:0, cuda:1, ...</source>
            <translation>Wo gerechnet wird: cpu, cuda:0, cuda:1, ...</translation>
        </message>
        <message>
            <source>Whether the model is the one that was ordered cannot be checked.</source>
            <translation>Ob das Modell das bestellte ist, kann nicht geprüft werden.</translation>
        </message>
        <message>
            <source>Which network: 11, 21 or 24 million parameters.</source>
            <translation>Welches Netz: 11, 21 oder 24 Millionen Parameter.</translation>
        </message>
        <message>
            <source>Whoever answers for keys: sign a list of those that no longer count.</source>
            <translation>Wer für Schlüssel einsteht: eine Liste derer unterschreiben, die nicht mehr zählen.</translation>
        </message>
        <message>
            <source>Whoever gets the capsule can read in it {0}.</source>
            <translation>Wer die Kapsel bekommt, kann darin lesen: {0}.</translation>
        </message>
        <message>
            <source>Whoever made an order's data: sign a note that says how, for instance which model sampled them.</source>
            <translation>Wer die Daten eines Auftrags gemacht hat: einen Vermerk unterschreiben, der sagt, wie, etwa welches Modell sie gezogen hat.</translation>
        </message>
        <message>
            <source>Whoever wrote this folder could have put a key of their own into it. Ask the auditor for the id of the key, by another way than the one on which this came. It must be:</source>
            <translation>Wer diesen Ordner geschrieben hat, könnte einen eigenen Schlüssel hineingelegt haben. Fragen Sie den Prüfer nach der Kennung des Schlüssels, auf einem anderen Weg als dem, auf dem dies kam. Sie muss lauten:</translation>
        </message>
        <message>
            <source>Whose key is it?</source>
            <translation>Wessen Schlüssel ist es?</translation>
        </message>
        <message>
            <source>Why, in a sentence or more.</source>
            <translation>Warum, in einem Satz oder mehreren.</translation>
        </message>
        <message>
            <source>Why, in a sentence.</source>
            <translation>Warum, in einem Satz.</translation>
        </message>
        <message>
            <source>Width of the model; a multiple of --heads.</source>
            <translation>Breite des Modells; ein Vielfaches von --heads.</translation>
        </message>
        <message>
            <source>Window</source>
            <translation>Fenster</translation>
        </message>
        <message>
            <source>With --aggregate: how many shares may be faulty.</source>
            <translation>Mit --aggregate: wie viele Anteile fehlerhaft sein dürfen.</translation>
        </message>
        <message>
            <source>With --aggregate: how much of its momentum a share keeps at each step; 0 for none.</source>
            <translation>Mit --aggregate: wie viel von seinem Momentum ein Anteil in jedem Schritt behält; 0 für nichts.</translation>
        </message>
        <message>
            <source>With --shares: running statistics and other buffers of the first share, as under DistributedDataParallel, or the mean of all shares'.</source>
            <translation>Mit --shares: laufende Statistiken und andere Puffer des ersten Anteils, wie bei DistributedDataParallel, oder das Mittel aller Anteile.</translation>
        </message>
        <message>
            <source>With --stop-early-patience: how much the loss must have fallen in these steps.</source>
            <translation>Mit --stop-early-patience: um wie viel der Verlust in diesen Schritten gefallen sein muss.</translation>
        </message>
        <message>
            <source>With shares of parties that may lie: the rule that makes one gradient of theirs, such as krum, median or centred-clipping,radius=5 (docs/aggregation.md).</source>
            <translation>Bei Anteilen von Beteiligten, die lügen könnten: die Regel, die aus ihren Gradienten einen macht, etwa krum, median oder centred-clipping,radius=5 (docs/aggregation.md).</translation>
        </message>
        <message>
            <source>Without {0}, two tensors of the run have one name.</source>
            <translation>Ohne {0} haben zwei Tensoren des Laufs denselben Namen.</translation>
        </message>
        <message>
            <source>Workers and parts of an audit need the run as a file, and {0} lies elsewhere.</source>
            <translation>Helfer und Teile einer Prüfung brauchen den Lauf als Datei, und {0} liegt anderswo.</translation>
        </message>
        <message>
            <source>Workers replay whole steps, and single shares are to be judged.</source>
            <translation>Helfer rechnen ganze Schritte nach, und einzelne Anteile sollen beurteilt werden.</translation>
        </message>
        <message>
            <source>Write a VERIFIED verdict as in-toto's Simple Verification Result, signed, in a Sigstore bundle.</source>
            <translation>Ein Urteil VERIFIED als Simple Verification Result von in-toto schreiben, unterschrieben, in einem Sigstore-Bündel.</translation>
        </message>
        <message>
            <source>Write a rule, such as steps = [1, 1000] under [hyperparameters]: docs/rules.md lists them.</source>
            <translation>Schreiben Sie eine Regel, etwa steps = [1, 1000] unter [hyperparameters]: docs/rules.md führt sie auf.</translation>
        </message>
        <message>
            <source>Write a verdict as SLSA's Verification Summary, signed, in a Sigstore bundle.</source>
            <translation>Ein Urteil als Verification Summary von SLSA schreiben, unterschrieben, in einem Sigstore-Bündel.</translation>
        </message>
        <message>
            <source>Write https://, http:// or s3://, or ssh:// for a machine; a file here is opened by Open.</source>
            <translation>Schreiben Sie https://, http:// oder s3://, oder ssh:// für einen Rechner; eine Datei hier wird mit Öffnen geöffnet.</translation>
        </message>
        <message>
            <source>Write ssh://host, ssh://user@host or ssh://user@host:port.</source>
            <translation>Schreiben Sie ssh://rechner, ssh://benutzer@rechner oder ssh://benutzer@rechner:port.</translation>
        </message>
        <message>
            <source>Write the curves of a run for TensorBoard; needs the package tensorboard.</source>
            <translation>Die Kurven eines Laufs für TensorBoard schreiben; braucht das Paket tensorboard.</translation>
        </message>
        <message>
            <source>Write the curves of a run, loss, learning rate and size of the log, as a table.</source>
            <translation>Die Kurven eines Laufs, Verlust, Lernrate und Größe des Protokolls, als Tabelle schreiben.</translation>
        </message>
        <message>
            <source>Write the order with the measured margins to this file.</source>
            <translation>Den Auftrag mit den gemessenen Toleranzen in diese Datei schreiben.</translation>
        </message>
        <message>
            <source>Write the row as the order has it: 'counterfoil inspect' shows dtype and shape of each array.</source>
            <translation>Schreiben Sie die Zeile, wie der Auftrag sie hat: „counterfoil inspect“ zeigt Typ und Form jedes Datenfelds.</translation>
        </message>
        <message>
            <source>Write the row with numpy.save, in C order, in dtype and shape as the order has it.</source>
            <translation>Schreiben Sie die Zeile mit numpy.save, in C-Reihenfolge, mit Typ und Form wie im Auftrag.</translation>
        </message>
        <message>
            <source>Write the signed verdict to this file; needs --key.</source>
            <translation>Das unterschriebene Urteil in diese Datei schreiben; braucht einen Schlüssel.</translation>
        </message>
        <message>
            <source>Write the weights of a run as a safetensors file, with the names and dtypes of the client's module.</source>
            <translation>Die Gewichte eines Laufs als safetensors-Datei schreiben, mit den Namen und Typen des Moduls des Auftraggebers.</translation>
        </message>
        <message>
            <source>Write what a verdict says as a section for a model's card, in Markdown.</source>
            <translation>Was ein Urteil sagt, als Abschnitt für die Karte eines Modells schreiben, in Markdown.</translation>
        </message>
        <message>
            <source>Your order, a .cfoil file.</source>
            <translation>Ihr Auftrag, eine .cfoil-Datei.</translation>
        </message>
        <message>
            <source>Your private key, from 'counterfoil keygen', or the URI of one in hardware (pkcs11:...).</source>
            <translation>Ihr privater Schlüssel, von 'counterfoil keygen', oder die URI eines Schlüssels in Hardware (pkcs11:...).</translation>
        </message>
        <message>
            <source>Your verdict, a .json file.</source>
            <translation>Ihr Urteil, eine .json-Datei.</translation>
        </message>
        <message>
            <source>a capsule</source>
            <translation>eine Kapsel</translation>
        </message>
        <message>
            <source>a chain of operators</source>
            <translation>eine Kette von Operatoren</translation>
        </message>
        <message>
            <source>a check is not finished</source>
            <translation>eine Prüfung ist nicht beendet</translation>
        </message>
        <message>
            <source>a comparison with a script</source>
            <translation>ein Vergleich mit einem Skript</translation>
        </message>
        <message>
            <source>a device</source>
            <translation>ein Gerät</translation>
        </message>
        <message>
            <source>a file</source>
            <translation>eine Datei</translation>
        </message>
        <message>
            <source>a file of Counterfoil's</source>
            <translation>eine Counterfoil-Datei</translation>
        </message>
        <message>
            <source>a file of rows</source>
            <translation>eine Datei mit Zeilen</translation>
        </message>
        <message>
            <source>a file of rules</source>
            <translation>eine Datei mit Regeln</translation>
        </message>
        <message>
            <source>a file to seal</source>
            <translation>eine Datei zum Versiegeln</translation>
        </message>
        <message>
            <source>a folder</source>
            <translation>ein Ordner</translation>
        </message>
        <message>
            <source>a key</source>
            <translation>ein Schlüssel</translation>
        </message>
        <message>
            <source>a key that the file itself names; compare it with the trainer's</source>
            <translation>einem Schlüssel, den die Datei selbst nennt; vergleichen Sie ihn mit dem des Trainers</translation>
        </message>
        <message>
            <source>a line of a witness's log</source>
            <translation>eine Zeile im Protokoll eines Zeugen</translation>
        </message>
        <message>
            <source>a list of keys</source>
            <translation>eine Schlüsselliste</translation>
        </message>
        <message>
            <source>a list of revoked keys</source>
            <translation>eine Liste widerrufener Schlüssel</translation>
        </message>
        <message>
            <source>a note about data</source>
            <translation>eine Notiz zu Daten</translation>
        </message>
        <message>
            <source>a part of an audit</source>
            <translation>ein Teil einer Prüfung</translation>
        </message>
        <message>
            <source>a part of it</source>
            <translation>ein Teil von ihr</translation>
        </message>
        <message>
            <source>a pipe</source>
            <translation>eine Pipe</translation>
        </message>
        <message>
            <source>a private sealing key</source>
            <translation>ein privater Siegelschlüssel</translation>
        </message>
        <message>
            <source>a public sealing key</source>
            <translation>ein öffentlicher Siegelschlüssel</translation>
        </message>
        <message>
            <source>a reply to a verdict</source>
            <translation>eine Antwort auf ein Urteil</translation>
        </message>
        <message>
            <source>a report</source>
            <translation>ein Bericht</translation>
        </message>
        <message>
            <source>a round of a beacon</source>
            <translation>eine Runde eines öffentlichen Signals</translation>
        </message>
        <message>
            <source>a rounded training step</source>
            <translation>einen gerundeten Trainingsschritt</translation>
        </message>
        <message>
            <source>a sealed file</source>
            <translation>eine versiegelte Datei</translation>
        </message>
        <message>
            <source>a segment was replayed on two machines</source>
            <translation>ein Segment wurde auf zwei Rechnern nachgerechnet</translation>
        </message>
        <message>
            <source>a segment was replayed that was not chosen</source>
            <translation>ein Segment wurde nachgerechnet, das nicht gewählt war</translation>
        </message>
        <message>
            <source>a settings file</source>
            <translation>eine Datei mit Einstellungen</translation>
        </message>
        <message>
            <source>a signed statement</source>
            <translation>eine unterschriebene Erklärung</translation>
        </message>
        <message>
            <source>a simple verification result</source>
            <translation>ein einfaches Prüfergebnis</translation>
        </message>
        <message>
            <source>a socket</source>
            <translation>ein Socket</translation>
        </message>
        <message>
            <source>a statement</source>
            <translation>eine Erklärung</translation>
        </message>
        <message>
            <source>a step differs, and check 8 passed</source>
            <translation>ein Schritt weicht ab, und Prüfung 8 ist bestanden</translation>
        </message>
        <message>
            <source>a step is one program</source>
            <translation>ein Schritt ist ein Programm</translation>
        </message>
        <message>
            <source>a table is made up</source>
            <translation>eine Tabelle wird erfunden</translation>
        </message>
        <message>
            <source>a tree head</source>
            <translation>ein Baumkopf</translation>
        </message>
        <message>
            <source>a verdict</source>
            <translation>ein Urteil</translation>
        </message>
        <message>
            <source>a verification summary</source>
            <translation>eine Zusammenfassung der Prüfung</translation>
        </message>
        <message>
            <source>activations are kept</source>
            <translation>Aktivierungen werden behalten</translation>
        </message>
        <message>
            <source>adjudication</source>
            <translation>Schiedsspruch</translation>
        </message>
        <message>
            <source>adjudication's steps</source>
            <translation>Schritte des Schiedsspruchs</translation>
        </message>
        <message>
            <source>all</source>
            <translation>alle</translation>
        </message>
        <message>
            <source>all data</source>
            <translation>alle Daten</translation>
        </message>
        <message>
            <source>all of them</source>
            <translation>alle</translation>
        </message>
        <message>
            <source>all steps are trained</source>
            <translation>alle Schritte werden trainiert</translation>
        </message>
        <message>
            <source>all weights learn</source>
            <translation>alle Gewichte lernen</translation>
        </message>
        <message>
            <source>all {0} are as RECORD says</source>
            <translation>alle {0} sind so, wie RECORD sagt</translation>
        </message>
        <message>
            <source>all, or as many as it makes in two minutes</source>
            <translation>alle, oder so viele in zwei Minuten</translation>
        </message>
        <message>
            <source>an adjudication</source>
            <translation>ein Schiedsspruch</translation>
        </message>
        <message>
            <source>an auditor's signature</source>
            <translation>Unterschrift eines Prüfers</translation>
        </message>
        <message>
            <source>an error that is none of Ray's</source>
            <translation>ein Fehler, der nicht von Ray stammt</translation>
        </message>
        <message>
            <source>an exact training step</source>
            <translation>einen exakten Trainingsschritt</translation>
        </message>
        <message>
            <source>an index is {0}, outside of {1} to {2}</source>
            <translation>ein Index ist {0}, außerhalb von {1} bis {2}</translation>
        </message>
        <message>
            <source>an index of weights</source>
            <translation>ein Verzeichnis von Gewichten</translation>
        </message>
        <message>
            <source>an order</source>
            <translation>ein Auftrag</translation>
        </message>
        <message>
            <source>another</source>
            <translation>ein anderer</translation>
        </message>
        <message>
            <source>another key signed the run than the trainer's that was given</source>
            <translation>den Lauf hat ein anderer Schlüssel unterschrieben als der angegebene des Trainers</translation>
        </message>
        <message>
            <source>answer of a model</source>
            <translation>Antwort eines Modells</translation>
        </message>
        <message>
            <source>as many as --epochs take</source>
            <translation>so viele, wie --epochs brauchen</translation>
        </message>
        <message>
            <source>as many as it trains</source>
            <translation>so viele, wie es trainiert</translation>
        </message>
        <message>
            <source>at no operator with a result</source>
            <translation>bei keinem Operator mit einem Ergebnis</translation>
        </message>
        <message>
            <source>at no rounded operator</source>
            <translation>bei keinem gerundeten Operator</translation>
        </message>
        <message>
            <source>at the end</source>
            <translation>am Ende</translation>
        </message>
        <message>
            <source>beyond float32's range</source>
            <translation>jenseits des Bereichs von float32</translation>
        </message>
        <message>
            <source>bit for bit</source>
            <translation>Bit für Bit gleich</translation>
        </message>
        <message>
            <source>bundle</source>
            <translation>Bündel</translation>
        </message>
        <message>
            <source>by the model and the data</source>
            <translation>je nach Modell und Daten</translation>
        </message>
        <message>
            <source>bytes</source>
            <translation>Bytes</translation>
        </message>
        <message>
            <source>cannot be given</source>
            <translation>darf nicht angegeben werden</translation>
        </message>
        <message>
            <source>cannot be kept, so that every process compiles what it needs</source>
            <translation>lassen sich nicht aufheben, sodass jeder Prozess übersetzt, was er braucht</translation>
        </message>
        <message>
            <source>capsule</source>
            <translation>Kapsel</translation>
        </message>
        <message>
            <source>cast to bfloat16</source>
            <translation>nach bfloat16 gerundet</translation>
        </message>
        <message>
            <source>cast to float16</source>
            <translation>nach float16 gerundet</translation>
        </message>
        <message>
            <source>check 10 was passed, but not every step was replayed</source>
            <translation>Prüfung 10 ist bestanden, aber nicht jeder Schritt wurde nachgerechnet</translation>
        </message>
        <message>
            <source>check 2 is not what the two orders say</source>
            <translation>Prüfung 2 sagt nicht, was die beiden Aufträge sagen</translation>
        </message>
        <message>
            <source>check 2 warns with the client's order</source>
            <translation>Prüfung 2 warnt trotz des Auftrags des Auftraggebers</translation>
        </message>
        <message>
            <source>check 2 was passed without an order</source>
            <translation>Prüfung 2 ist ohne Auftrag bestanden</translation>
        </message>
        <message>
            <source>check 2 was passed without the client's order</source>
            <translation>Prüfung 2 ist ohne den Auftrag des Auftraggebers bestanden</translation>
        </message>
        <message>
            <source>check 2 was passed, and the client's key did not sign the order</source>
            <translation>Prüfung 2 war bestanden, und der Schlüssel des Auftraggebers hat den Auftrag nicht unterschrieben</translation>
        </message>
        <message>
            <source>check 5 was passed without a run root</source>
            <translation>Prüfung 5 ist ohne Laufwurzel bestanden</translation>
        </message>
        <message>
            <source>check 5 was passed without the trainer's acceptance of the order</source>
            <translation>Prüfung 5 war ohne die Annahme des Auftrags durch den Trainer bestanden</translation>
        </message>
        <message>
            <source>check 8 is not what the differing steps say</source>
            <translation>Prüfung 8 passt nicht zu den abweichenden Schritten</translation>
        </message>
        <message>
            <source>check 8 was passed without a replay</source>
            <translation>Prüfung 8 ist ohne Nachrechnung bestanden</translation>
        </message>
        <message>
            <source>check {0} warns, which it never does</source>
            <translation>Prüfung {0} warnt, was sie nie tut</translation>
        </message>
        <message>
            <source>checkpoint_every must be a multiple of commit_every, so that every stored state is committed.</source>
            <translation>checkpoint_every muss ein Vielfaches von commit_every sein, damit jeder gespeicherte Zustand festgelegt ist.</translation>
        </message>
        <message>
            <source>chosen segments</source>
            <translation>gewählte Segmente</translation>
        </message>
        <message>
            <source>client's signature on the order</source>
            <translation>Unterschrift des Auftraggebers auf dem Auftrag</translation>
        </message>
        <message>
            <source>closes in part, with {0}; {1}</source>
            <translation>schließt teilweise, mit {0}; {1}</translation>
        </message>
        <message>
            <source>closes, with {0}</source>
            <translation>schließt, mit {0}</translation>
        </message>
        <message>
            <source>combination of the order's shares</source>
            <translation>Zusammenführung der Anteile des Auftrags</translation>
        </message>
        <message>
            <source>compares a rounded product with its threshold, and jumps there</source>
            <translation>vergleicht ein gerundetes Produkt mit seiner Schwelle und springt dort</translation>
        </message>
        <message>
            <source>compares integers with a number that is not an integer, for which both are converted</source>
            <translation>vergleicht ganze Zahlen mit einer, die keine ist, wofür beide umgewandelt werden</translation>
        </message>
        <message>
            <source>comparison with the script</source>
            <translation>Vergleich mit dem Skript</translation>
        </message>
        <message>
            <source>compiled loops</source>
            <translation>übersetzte Schleifen</translation>
        </message>
        <message>
            <source>compiled loops over OpenSSL's functions</source>
            <translation>übersetzte Schleifen über Funktionen von OpenSSL</translation>
        </message>
        <message>
            <source>counts in steps that are not integers, which the library adds up in an order that depends on the number of threads</source>
            <translation>zählt in Schritten, die keine ganzen Zahlen sind und die die Bibliothek je nach Anzahl der Threads aufaddiert</translation>
        </message>
        <message>
            <source>data array {0}</source>
            <translation>Datenfeld {0}</translation>
        </message>
        <message>
            <source>data file</source>
            <translation>Datendatei</translation>
        </message>
        <message>
            <source>devices, kernels and self-tests</source>
            <translation>Geräte, Kernel und Selbsttests</translation>
        </message>
        <message>
            <source>digest of an update program</source>
            <translation>Digest eines Aktualisierungsprogramms</translation>
        </message>
        <message>
            <source>digest of the program {0}</source>
            <translation>Digest des Programms {0}</translation>
        </message>
        <message>
            <source>digest of the rule {0}</source>
            <translation>Hash der Regel {0}</translation>
        </message>
        <message>
            <source>display</source>
            <translation>Anzeige</translation>
        </message>
        <message>
            <source>divides by frequencies, which is an operation of its own</source>
            <translation>teilt durch Häufigkeiten, was eine eigene Operation ist</translation>
        </message>
        <message>
            <source>divides without saying how the quotient becomes an integer</source>
            <translation>teilt, ohne zu sagen, wie der Quotient eine ganze Zahl wird</translation>
        </message>
        <message>
            <source>docs/rules.md shows one.</source>
            <translation>docs/rules.md zeigt eine.</translation>
        </message>
        <message>
            <source>does not work: {0}</source>
            <translation>funktioniert nicht: {0}</translation>
        </message>
        <message>
            <source>ended with code {0}</source>
            <translation>endete mit dem Code {0}</translation>
        </message>
        <message>
            <source>ends early if the loss has not fallen by {0} in {1} steps</source>
            <translation>endet vorzeitig, wenn der Verlust in {1} Schritten nicht um {0} gefallen ist</translation>
        </message>
        <message>
            <source>ends early if the loss has not fallen in {0} steps</source>
            <translation>endet vorzeitig, wenn der Verlust in {0} Schritten nicht gefallen ist</translation>
        </message>
        <message>
            <source>envelope</source>
            <translation>Umschlag</translation>
        </message>
        <message>
            <source>envelope's signature</source>
            <translation>Unterschrift des Umschlags</translation>
        </message>
        <message>
            <source>exact by rows, operands of products of {0} bits</source>
            <translation>zeilenweise exakt, Operanden von Produkten mit {0} Bit</translation>
        </message>
        <message>
            <source>exact products</source>
            <translation>exakte Produkte</translation>
        </message>
        <message>
            <source>exact, operands of products of {0} bits</source>
            <translation>exakt, Operanden von Produkten mit {0} Bit</translation>
        </message>
        <message>
            <source>facts of a run</source>
            <translation>Fakten zu einem Lauf</translation>
        </message>
        <message>
            <source>features</source>
            <translation>Merkmale</translation>
        </message>
        <message>
            <source>field {0} of the step record</source>
            <translation>Feld {0} des Schritteintrags</translation>
        </message>
        <message>
            <source>field {0} of the {1}</source>
            <translation>Feld {0} ({1})</translation>
        </message>
        <message>
            <source>file of a source</source>
            <translation>Datei einer Quelle</translation>
        </message>
        <message>
            <source>file of rules</source>
            <translation>Datei mit Regeln</translation>
        </message>
        <message>
            <source>fingerprints</source>
            <translation>Fingerabdrücke</translation>
        </message>
        <message>
            <source>float64 at a rate that is not known: measure it</source>
            <translation>float64 mit unbekannter Geschwindigkeit: messen Sie sie</translation>
        </message>
        <message>
            <source>float64 at half the rate of float32</source>
            <translation>float64 mit halber Geschwindigkeit von float32</translation>
        </message>
        <message>
            <source>float64 at the rate of float32</source>
            <translation>float64 so schnell wie float32</translation>
        </message>
        <message>
            <source>followed by bits that are not zero</source>
            <translation>gefolgt von Bits, die nicht null sind</translation>
        </message>
        <message>
            <source>for reading and for printing; not signed, it names the SHA-256 of {0}</source>
            <translation>zum Lesen und Drucken; nicht unterschrieben, nennt den SHA-256 von {0}</translation>
        </message>
        <message>
            <source>gave a value beyond float32's range</source>
            <translation>ergab einen Wert jenseits des Bereichs von float32</translation>
        </message>
        <message>
            <source>gave a value that is not a number</source>
            <translation>ergab einen Wert, der keine Zahl ist</translation>
        </message>
        <message>
            <source>gave an infinite value, and no argument of it is infinite</source>
            <translation>ergab einen unendlichen Wert, und keines seiner Argumente ist unendlich</translation>
        </message>
        <message>
            <source>gives the gradient of a bias, which is a sum of its own</source>
            <translation>gibt den Gradienten eines Bias, der eine eigene Summe ist</translation>
        </message>
        <message>
            <source>has a bias, which is an addition of its own</source>
            <translation>hat einen Bias, der eine eigene Addition ist</translation>
        </message>
        <message>
            <source>has a comment, which is not allowed.</source>
            <translation>hat einen Kommentar, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>has a factor, which is a multiplication of its own</source>
            <translation>hat einen Faktor, der eine eigene Multiplikation ist</translation>
        </message>
        <message>
            <source>has a fill value of the old form, which is not allowed.</source>
            <translation>hat einen Füllwert der alten Form, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>has a layout of an unknown kind.</source>
            <translation>hat eine Anordnung unbekannter Art.</translation>
        </message>
        <message>
            <source>has a mask in the place of indices, so that values decide how many numbers are added</source>
            <translation>hat eine Maske an der Stelle von Indizes, sodass Werte entscheiden, wie viele Zahlen addiert werden</translation>
        </message>
        <message>
            <source>has a second name, or is a second name for another object, which is not allowed.</source>
            <translation>hat einen zweiten Namen oder ist ein zweiter Name für ein anderes Objekt, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>has an argument {0} that {1}</source>
            <translation>hat ein Argument {0}: Es {1}</translation>
        </message>
        <message>
            <source>has an attribute, and only the root of a file may have one.</source>
            <translation>hat ein Attribut, und nur die Wurzel einer Datei darf eines haben.</translation>
        </message>
        <message>
            <source>has an output that is not computed, where there is no other</source>
            <translation>hat eine nicht berechnete Ausgabe, obwohl es keine andere gibt</translation>
        </message>
        <message>
            <source>has no batch axis</source>
            <translation>hat keine Stapelachse</translation>
        </message>
        <message>
            <source>has no definition for {0}</source>
            <translation>hat keine Definition für {0}</translation>
        </message>
        <message>
            <source>has nothing as its argument {0}</source>
            <translation>hat nichts als Argument {0}</translation>
        </message>
        <message>
            <source>has shared messages, which is not allowed.</source>
            <translation>hat geteilte Nachrichten, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>has the argument {0} by name, not by position</source>
            <translation>hat das Argument {0} mit Namen, nicht an seiner Stelle</translation>
        </message>
        <message>
            <source>has the argument {0} by name, which it lacks</source>
            <translation>hat das benannte Argument {0}, das es bei ihm nicht gibt</translation>
        </message>
        <message>
            <source>has {0} arguments; it takes {1} at most</source>
            <translation>hat {0} Argumente; er nimmt höchstens {1}</translation>
        </message>
        <message>
            <source>has {0} integers; it takes {1} to {2}</source>
            <translation>hat {0} ganze Zahlen; erlaubt sind {1} bis {2}</translation>
        </message>
        <message>
            <source>has {0} outputs, not {1}</source>
            <translation>hat {0} Ausgaben, nicht {1}</translation>
        </message>
        <message>
            <source>hashlib</source>
            <translation>hashlib</translation>
        </message>
        <message>
            <source>holds {0}, which its format does not know</source>
            <translation>enthält {0}, was ihr Format nicht kennt</translation>
        </message>
        <message>
            <source>images</source>
            <translation>Bilder</translation>
        </message>
        <message>
            <source>in {0} sittings: it was stopped and gone on with, and the time between them is not counted</source>
            <translation>in {0} Sitzungen: Sie wurde angehalten und fortgesetzt, und die Zeit dazwischen zählt nicht</translation>
        </message>
        <message>
            <source>inclusion proof of a leaf</source>
            <translation>Einschlussbeweis eines Blattes</translation>
        </message>
        <message>
            <source>infinite or not a number</source>
            <translation>unendlich oder keine Zahl</translation>
        </message>
        <message>
            <source>is a group of the old form, without checksums, which is not allowed.</source>
            <translation>ist eine Gruppe der alten Form ohne Prüfsummen, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>is a truth value, not a number</source>
            <translation>ist ein Wahrheitswert, keine Zahl</translation>
        </message>
        <message>
            <source>is about this machine</source>
            <translation>betrifft diesen Rechner</translation>
        </message>
        <message>
            <source>is infinite</source>
            <translation>ist unendlich</translation>
        </message>
        <message>
            <source>is not a list of indices</source>
            <translation>ist keine Liste von Indizes</translation>
        </message>
        <message>
            <source>is not a list of integers</source>
            <translation>ist keine Liste ganzer Zahlen</translation>
        </message>
        <message>
            <source>is not a list of tensors</source>
            <translation>ist keine Liste von Tensoren</translation>
        </message>
        <message>
            <source>is not a list of {0} truth values</source>
            <translation>ist keine Liste von {0} Wahrheitswerten</translation>
        </message>
        <message>
            <source>is not a number</source>
            <translation>ist keine Zahl</translation>
        </message>
        <message>
            <source>is not a tensor</source>
            <translation>ist kein Tensor</translation>
        </message>
        <message>
            <source>is not a truth value</source>
            <translation>ist kein Wahrheitswert</translation>
        </message>
        <message>
            <source>is not a {0}</source>
            <translation>ist nicht von der Art {0}</translation>
        </message>
        <message>
            <source>is not an integer</source>
            <translation>ist keine ganze Zahl</translation>
        </message>
        <message>
            <source>is not installed</source>
            <translation>ist nicht installiert</translation>
        </message>
        <message>
            <source>is not one of {0}</source>
            <translation>ist keines von {0}</translation>
        </message>
        <message>
            <source>is put together from other datasets or files, which is not allowed.</source>
            <translation>ist aus anderen Datensätzen oder Dateien zusammengesetzt; das ist nicht erlaubt.</translation>
        </message>
        <message>
            <source>is {0}, which 64 bits do not hold</source>
            <translation>ist {0}, was nicht in 64 Bits passt</translation>
        </message>
        <message>
            <source>is {0}; it must lie in {1} to {2}</source>
            <translation>ist {0}; es muss in {1} bis {2} liegen</translation>
        </message>
        <message>
            <source>it belongs to another user</source>
            <translation>er gehört einem anderen Benutzer</translation>
        </message>
        <message>
            <source>it disputes a step that is not among those that differ</source>
            <translation>sie bestreitet einen Schritt, der nicht unter den abweichenden ist</translation>
        </message>
        <message>
            <source>it disputes a step that was not replayed</source>
            <translation>sie bestreitet einen Schritt, der nicht nachgerechnet wurde</translation>
        </message>
        <message>
            <source>it ends at {0} bytes, and its tensors at {1}</source>
            <translation>sie endet bei {0} Byte, ihre Tensoren bei {1}</translation>
        </message>
        <message>
            <source>it has the extension {0}, which is not known here</source>
            <translation>es hat die Erweiterung {0}, die hier unbekannt ist</translation>
        </message>
        <message>
            <source>it is an authority's</source>
            <translation>es ist das einer Zertifizierungsstelle</translation>
        </message>
        <message>
            <source>it is no authority's</source>
            <translation>es ist nicht das einer Zertifizierungsstelle</translation>
        </message>
        <message>
            <source>it is no key</source>
            <translation>er ist kein Schlüssel</translation>
        </message>
        <message>
            <source>it is not there</source>
            <translation>er ist nicht da</translation>
        </message>
        <message>
            <source>it is of another version of Counterfoil</source>
            <translation>sie ist von einer anderen Version von Counterfoil</translation>
        </message>
        <message>
            <source>it is too large</source>
            <translation>sie ist zu groß</translation>
        </message>
        <message>
            <source>it is written otherwise</source>
            <translation>sie ist anders geschrieben</translation>
        </message>
        <message>
            <source>it knows a run and no order</source>
            <translation>sie kennt einen Lauf und keinen Auftrag</translation>
        </message>
        <message>
            <source>it names a model, and nobody replayed the segment that ends in it</source>
            <translation>es nennt ein Modell, und niemand hat das Segment nachgerechnet, das mit ihm endet</translation>
        </message>
        <message>
            <source>it names {0} tensors, and at most {1} are read</source>
            <translation>sie nennt {0} Tensoren, und höchstens {1} werden gelesen</translation>
        </message>
        <message>
            <source>it refuses the file, and disputes a step of it</source>
            <translation>sie weist die Datei zurück und bestreitet einen Schritt daraus</translation>
        </message>
        <message>
            <source>it says CONFIRMED, but check 8 did not fail</source>
            <translation>sie sagt CONFIRMED, aber Prüfung 8 ist nicht durchgefallen</translation>
        </message>
        <message>
            <source>it says DISPUTED, but names no step</source>
            <translation>sie sagt DISPUTED, nennt aber keinen Schritt</translation>
        </message>
        <message>
            <source>it says REJECTED, and disputes a step</source>
            <translation>sie sagt REJECTED und bestreitet einen Schritt</translation>
        </message>
        <message>
            <source>it says REJECTED, but did not replay every step</source>
            <translation>sie sagt REJECTED, aber nicht jeder Schritt wurde nachgerechnet</translation>
        </message>
        <message>
            <source>it says REJECTED, but its checks do not</source>
            <translation>sie sagt REJECTED, ihre Prüfungen aber nicht</translation>
        </message>
        <message>
            <source>it says REJECTED, but the log is at fault</source>
            <translation>sie sagt REJECTED, aber das Protokoll ist fehlerhaft</translation>
        </message>
        <message>
            <source>it says VERIFIED, but a check warns that must be passed</source>
            <translation>sie sagt VERIFIED, aber eine Prüfung warnt, die bestanden sein muss</translation>
        </message>
        <message>
            <source>it says VERIFIED, but a check was not passed</source>
            <translation>sie sagt VERIFIED, aber eine Prüfung ist nicht bestanden</translation>
        </message>
        <message>
            <source>it says VERIFIED, but a step differs</source>
            <translation>sie sagt VERIFIED, aber ein Schritt weicht ab</translation>
        </message>
        <message>
            <source>it says VERIFIED, but check 10 warns of a whole replay</source>
            <translation>sie sagt VERIFIED, aber Prüfung 10 warnt bei einer vollständigen Nachrechnung</translation>
        </message>
        <message>
            <source>it says VERIFIED, but directions of the log look chosen</source>
            <translation>sie sagt VERIFIED, aber Richtungen im Protokoll sehen gewählt aus</translation>
        </message>
        <message>
            <source>it says VERIFIED, but names no run and no order</source>
            <translation>sie sagt VERIFIED, nennt aber keinen Lauf und keinen Auftrag</translation>
        </message>
        <message>
            <source>it says VERIFIED, but not every chosen step was replayed</source>
            <translation>sie sagt VERIFIED, aber nicht jeder gewählte Schritt wurde nachgerechnet</translation>
        </message>
        <message>
            <source>it says VERIFIED, but not where every segment was replayed</source>
            <translation>sie sagt VERIFIED, aber nicht von jedem Segment, wo es nachgerechnet wurde</translation>
        </message>
        <message>
            <source>it says VERIFIED, but the log is at fault</source>
            <translation>sie sagt VERIFIED, aber das Protokoll ist fehlerhaft</translation>
        </message>
        <message>
            <source>it says how many steps a run has that it does not know</source>
            <translation>es sagt, wie viele Schritte ein Lauf hat, den es nicht kennt</translation>
        </message>
        <message>
            <source>it says {0}, and every check was passed</source>
            <translation>es sagt {0}, und jede Prüfung wurde bestanden</translation>
        </message>
        <message>
            <source>it states facts of a run that was not checked</source>
            <translation>es macht Angaben zu einem Lauf, der nicht geprüft wurde</translation>
        </message>
        <message>
            <source>it went on after a confirmed dispute</source>
            <translation>nach einem bestätigten Streitfall ging es weiter</translation>
        </message>
        <message>
            <source>its account of the log does not add up to its rounded values</source>
            <translation>ihre Zählung des Protokolls ergibt nicht ihre gerundeten Werte</translation>
        </message>
        <message>
            <source>its account of the log does not belong to the replayed steps</source>
            <translation>ihre Zählung des Protokolls gehört nicht zu den nachgerechneten Schritten</translation>
        </message>
        <message>
            <source>its account of the log has more values than were rounded</source>
            <translation>ihre Zählung des Protokolls hat mehr Werte, als gerundet wurden</translation>
        </message>
        <message>
            <source>its data array {0}</source>
            <translation>Datenfeld {0}</translation>
        </message>
        <message>
            <source>its data arrays {0}</source>
            <translation>Datenfelder {0}</translation>
        </message>
        <message>
            <source>its facts are those of another run</source>
            <translation>seine Angaben sind die eines anderen Laufs</translation>
        </message>
        <message>
            <source>its facts have another duration than from begin to end</source>
            <translation>seine Angaben nennen eine andere Dauer als die vom Anfang bis zum Ende</translation>
        </message>
        <message>
            <source>its facts have rows that cannot have been read</source>
            <translation>seine Angaben nennen Zeilen, die nicht gelesen worden sein können</translation>
        </message>
        <message>
            <source>its facts name a moment that is none</source>
            <translation>seine Angaben nennen einen Zeitpunkt, den es nicht gibt</translation>
        </message>
        <message>
            <source>its facts name an energy, which no audit finds</source>
            <translation>seine Angaben nennen eine Energie, die keine Prüfung findet</translation>
        </message>
        <message>
            <source>its header cannot be used: {0}</source>
            <translation>ihr Kopf ist nicht brauchbar: {0}</translation>
        </message>
        <message>
            <source>its header cannot be {0} bytes long</source>
            <translation>ihr Kopf kann nicht {0} Byte lang sein</translation>
        </message>
        <message>
            <source>its header is not a JSON object</source>
            <translation>ihr Kopf ist kein JSON-Objekt</translation>
        </message>
        <message>
            <source>its key may not issue certificates</source>
            <translation>sein Schlüssel darf keine Zertifikate ausstellen</translation>
        </message>
        <message>
            <source>its key may not sign</source>
            <translation>sein Schlüssel darf nicht signieren</translation>
        </message>
        <message>
            <source>its log is at fault, and check 9 passed</source>
            <translation>ihr Protokoll ist fehlerhaft, und Prüfung 9 ist bestanden</translation>
        </message>
        <message>
            <source>its machine is short of memory</source>
            <translation>seinem Rechner fehlt Arbeitsspeicher</translation>
        </message>
        <message>
            <source>its operators without a bound are not among those that it counted</source>
            <translation>ihre Operatoren ohne Schranke sind nicht unter den gezählten</translation>
        </message>
        <message>
            <source>its order came from the file, and is another than the file's</source>
            <translation>sein Auftrag kam aus der Datei und ist ein anderer als der der Datei</translation>
        </message>
        <message>
            <source>its order is known by a client's key that was not given</source>
            <translation>sein Auftrag ist durch einen Schlüssel eines Auftraggebers bekannt, der nicht angegeben wurde</translation>
        </message>
        <message>
            <source>its order is known, and its steps are not</source>
            <translation>ihr Auftrag ist bekannt, ihre Schritte nicht</translation>
        </message>
        <message>
            <source>its outcome is not what its dispute says</source>
            <translation>ihr Ergebnis passt nicht zu ihrem Streitfall</translation>
        </message>
        <message>
            <source>its predicate or its subjects are none</source>
            <translation>ihr Inhalt (predicate) oder ihre Gegenstände sind keine</translation>
        </message>
        <message>
            <source>its process ended with {0}</source>
            <translation>sein Prozess endete mit {0}</translation>
        </message>
        <message>
            <source>its process was ended by signal {0}</source>
            <translation>sein Prozess wurde durch das Signal {0} beendet</translation>
        </message>
        <message>
            <source>its purpose is not to sign documents, code or mail</source>
            <translation>es ist nicht dazu da, Dokumente, Code oder E-Mails zu signieren</translation>
        </message>
        <message>
            <source>its run root and the key that signed it do not come together</source>
            <translation>Laufwurzel und Schlüssel, der sie unterschrieb, treten nicht gemeinsam auf</translation>
        </message>
        <message>
            <source>its run root is {0}, and not {1}</source>
            <translation>seine Laufwurzel ist {0} und nicht {1}</translation>
        </message>
        <message>
            <source>its sample does not have the planned steps</source>
            <translation>ihre Stichprobe hat nicht die geplanten Schritte</translation>
        </message>
        <message>
            <source>its signature is not that of the party with the key {0}, from the state before this step</source>
            <translation>ihre Signatur ist nicht die der Partei mit dem Schlüssel {0}, ausgehend vom Zustand vor diesem Schritt</translation>
        </message>
        <message>
            <source>its size, its time or a part of it</source>
            <translation>ihre Größe, ihre Zeit oder ein Teil von ihr</translation>
        </message>
        <message>
            <source>its steps are the same, and its order is {0}, not {1}</source>
            <translation>seine Schritte sind dieselben, und sein Auftrag ist {0}, nicht {1}</translation>
        </message>
        <message>
            <source>its steps are the same, and the key {0} signed it, not {1}</source>
            <translation>seine Schritte sind dieselben, und der Schlüssel {0} hat ihn unterschrieben, nicht {1}</translation>
        </message>
        <message>
            <source>its structure</source>
            <translation>ihr Aufbau</translation>
        </message>
        <message>
            <source>keeps its data in another file, which is not allowed.</source>
            <translation>hat seine Daten in einer anderen Datei; das ist nicht erlaubt.</translation>
        </message>
        <message>
            <source>keeps its data in chunks; a bundle's lie in one piece.</source>
            <translation>hält seine Daten in Blöcken; die eines Bündels liegen in einem Stück.</translation>
        </message>
        <message>
            <source>keeps its data within its header, which is not allowed.</source>
            <translation>hält seine Daten in seinem Kopf, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>known answers came out right in {0:.1f} s</source>
            <translation>bekannte Antworten kamen richtig heraus, in {0:.1f} s</translation>
        </message>
        <message>
            <source>labels</source>
            <translation>Labels</translation>
        </message>
        <message>
            <source>lacks the argument {0}</source>
            <translation>hat das Argument {0} nicht</translation>
        </message>
        <message>
            <source>lacks {0}</source>
            <translation>enthält {0} nicht</translation>
        </message>
        <message>
            <source>leaf of the capsule</source>
            <translation>Blatt der Kapsel</translation>
        </message>
        <message>
            <source>lies behind bytes that belong to none</source>
            <translation>liegt hinter Bytes, die zu keinem gehören</translation>
        </message>
        <message>
            <source>line of a witness's log</source>
            <translation>Zeile im Protokoll eines Zeugen</translation>
        </message>
        <message>
            <source>list of a release</source>
            <translation>Liste einer Veröffentlichung</translation>
        </message>
        <message>
            <source>list of revoked keys</source>
            <translation>Liste widerrufener Schlüssel</translation>
        </message>
        <message>
            <source>little float64, 1/{0} of the rate of float32: expect a slow replay</source>
            <translation>wenig float64, 1/{0} der Geschwindigkeit von float32: Das Nachrechnen wird langsam</translation>
        </message>
        <message>
            <source>log</source>
            <translation>Protokoll</translation>
        </message>
        <message>
            <source>log of a witness</source>
            <translation>Protokoll eines Zeugen</translation>
        </message>
        <message>
            <source>logged directions</source>
            <translation>protokollierte Richtungen</translation>
        </message>
        <message>
            <source>loss</source>
            <translation>Verlust</translation>
        </message>
        <message>
            <source>macro F1 {0:.4f}</source>
            <translation>Makro-F1 {0:.4f}</translation>
        </message>
        <message>
            <source>matrices in {0}, batches in {1}, convolutions in {2}</source>
            <translation>Matrizen in {0}, Stapel in {1}, Faltungen in {2}</translation>
        </message>
        <message>
            <source>merged with its adapter</source>
            <translation>mit dem Adapter verrechnet</translation>
        </message>
        <message>
            <source>merged with its adapter, cast to bfloat16</source>
            <translation>mit dem Adapter verrechnet, nach bfloat16 gerundet</translation>
        </message>
        <message>
            <source>merged with its adapter, cast to float16</source>
            <translation>mit dem Adapter verrechnet, nach float16 gerundet</translation>
        </message>
        <message>
            <source>mismatched steps</source>
            <translation>abweichende Schritte</translation>
        </message>
        <message>
            <source>missing: {0}</source>
            <translation>fehlend: {0}</translation>
        </message>
        <message>
            <source>more steps differ than were replayed</source>
            <translation>mehr Schritte weichen ab, als nachgerechnet wurden</translation>
        </message>
        <message>
            <source>multiplies values in an order that differs between machines</source>
            <translation>multipliziert Werte in einer Reihenfolge, die zwischen Rechnern verschieden ist</translation>
        </message>
        <message>
            <source>named</source>
            <translation>benannt</translation>
        </message>
        <message>
            <source>names of the order's module</source>
            <translation>Namen des Moduls im Auftrag</translation>
        </message>
        <message>
            <source>need not keep the order of equal elements, which then differs between machines</source>
            <translation>muss die Reihenfolge gleicher Elemente nicht erhalten, die dann von Rechner zu Rechner verschieden ist</translation>
        </message>
        <message>
            <source>no answer within {0:.0f} seconds</source>
            <translation>keine Antwort binnen {0:.0f} Sekunden</translation>
        </message>
        <message>
            <source>no file</source>
            <translation>keine Datei</translation>
        </message>
        <message>
            <source>no float64</source>
            <translation>kein float64</translation>
        </message>
        <message>
            <source>no party answers for it, and it is signed</source>
            <translation>Keine Partei steht für ihn ein, und er ist unterschrieben</translation>
        </message>
        <message>
            <source>no place for it is known</source>
            <translation>es ist kein Ort dafür bekannt</translation>
        </message>
        <message>
            <source>no process can be started: {0}</source>
            <translation>es lässt sich kein Prozess starten: {0}</translation>
        </message>
        <message>
            <source>none</source>
            <translation>keine</translation>
        </message>
        <message>
            <source>none that are used</source>
            <translation>keine, die verwendet werden</translation>
        </message>
        <message>
            <source>not compared</source>
            <translation>nicht verglichen</translation>
        </message>
        <message>
            <source>not compared: {0}</source>
            <translation>nicht verglichen: {0}</translation>
        </message>
        <message>
            <source>not installed</source>
            <translation>nicht installiert</translation>
        </message>
        <message>
            <source>not known</source>
            <translation>nicht bekannt</translation>
        </message>
        <message>
            <source>not named</source>
            <translation>nicht genannt</translation>
        </message>
        <message>
            <source>not of the run: {0}</source>
            <translation>nicht aus dem Lauf: {0}</translation>
        </message>
        <message>
            <source>not tested</source>
            <translation>nicht getestet</translation>
        </message>
        <message>
            <source>note about data</source>
            <translation>Notiz zu Daten</translation>
        </message>
        <message>
            <source>nothing</source>
            <translation>nichts</translation>
        </message>
        <message>
            <source>now</source>
            <translation>jetzt</translation>
        </message>
        <message>
            <source>only measure</source>
            <translation>nur messen</translation>
        </message>
        <message>
            <source>order digest</source>
            <translation>Auftrags-Hash</translation>
        </message>
        <message>
            <source>order digest, run root</source>
            <translation>Auftrags-Hash, Laufwurzel</translation>
        </message>
        <message>
            <source>order's manifest</source>
            <translation>Manifest des Auftrags</translation>
        </message>
        <message>
            <source>order's shares</source>
            <translation>Anteile des Auftrags</translation>
        </message>
        <message>
            <source>others can read or write it</source>
            <translation>andere können ihn lesen oder schreiben</translation>
        </message>
        <message>
            <source>out of range</source>
            <translation>außerhalb des Bereichs</translation>
        </message>
        <message>
            <source>overlaps another</source>
            <translation>überlappt einen anderen</translation>
        </message>
        <message>
            <source>overwrites elements; with repeated indices the last write wins, and which is last differs</source>
            <translation>überschreibt Elemente; bei wiederholten Indizes gilt das letzte Schreiben, und welches das letzte ist, ist verschieden</translation>
        </message>
        <message>
            <source>path of the {0}</source>
            <translation>Pfad im {0}</translation>
        </message>
        <message>
            <source>per-step scalars</source>
            <translation>Skalare der Schritte</translation>
        </message>
        <message>
            <source>perplexity {0:.6g}</source>
            <translation>Perplexität {0:.6g}</translation>
        </message>
        <message>
            <source>products in {0}</source>
            <translation>Produkte in {0}</translation>
        </message>
        <message>
            <source>proven: from a bound on how far machines can differ, the default in float64; calibrated: from measured differences ('counterfoil calibrate' measures again), the default in float32.</source>
            <translation>proven: aus einer Schranke dafür, wie weit Rechner auseinanderliegen können, die Vorgabe in float64; calibrated: aus gemessenen Unterschieden ('counterfoil calibrate' misst neu), die Vorgabe in float32.</translation>
        </message>
        <message>
            <source>puts a number into {0} that it cannot hold</source>
            <translation>schreibt eine Zahl in {0}, die nicht hineinpasst</translation>
        </message>
        <message>
            <source>puts a value that is not a number, or has a fraction, into an integer</source>
            <translation>schreibt etwas, das keine Zahl ist oder einen Bruchteil hat, in eine ganze Zahl</translation>
        </message>
        <message>
            <source>random numbers</source>
            <translation>Zufallszahlen</translation>
        </message>
        <message>
            <source>random ones</source>
            <translation>zufällige</translation>
        </message>
        <message>
            <source>record of a share</source>
            <translation>Eintrag eines Anteils</translation>
        </message>
        <message>
            <source>record of a tensor that is left out</source>
            <translation>Eintrag eines ausgelassenen Tensors</translation>
        </message>
        <message>
            <source>record of what was added of a share</source>
            <translation>Eintrag darüber, was von einem Anteil addiert wurde</translation>
        </message>
        <message>
            <source>reply to a verdict</source>
            <translation>Antwort auf ein Urteil</translation>
        </message>
        <message>
            <source>result</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>row proof</source>
            <translation>Zeilenbeweis</translation>
        </message>
        <message>
            <source>rows as fractions of powers of two</source>
            <translation>Zeilen als Bruchteile von Zweierpotenzen</translation>
        </message>
        <message>
            <source>rows of {0}</source>
            <translation>Zeilen von {0}</translation>
        </message>
        <message>
            <source>rule to stop early</source>
            <translation>Regel zum vorzeitigen Ende</translation>
        </message>
        <message>
            <source>run's claim</source>
            <translation>Erklärung des Laufs</translation>
        </message>
        <message>
            <source>sandbox</source>
            <translation>Sandbox</translation>
        </message>
        <message>
            <source>segments of a machine</source>
            <translation>Segmente eines Rechners</translation>
        </message>
        <message>
            <source>self-test failed</source>
            <translation>Selbsttest nicht bestanden</translation>
        </message>
        <message>
            <source>self-test of {0}</source>
            <translation>Selbsttest von {0}</translation>
        </message>
        <message>
            <source>self-test passed</source>
            <translation>Selbsttest bestanden</translation>
        </message>
        <message>
            <source>shares</source>
            <translation>Anteile</translation>
        </message>
        <message>
            <source>shares of a step record</source>
            <translation>Anteile eines Schritteintrags</translation>
        </message>
        <message>
            <source>shares of the capsule</source>
            <translation>Anteile der Kapsel</translation>
        </message>
        <message>
            <source>signed by a REVOKED key</source>
            <translation>mit einem WIDERRUFENEN Schlüssel signiert</translation>
        </message>
        <message>
            <source>signed by an unknown key</source>
            <translation>unterschrieben, Schlüssel unbekannt</translation>
        </message>
        <message>
            <source>signed by the client</source>
            <translation>vom Auftraggeber unterschrieben</translation>
        </message>
        <message>
            <source>signed with the key {0}</source>
            <translation>unterschrieben mit dem Schlüssel {0}</translation>
        </message>
        <message>
            <source>small: 10 million parameters, for 32x32 pixels; torchvision: 129 million.</source>
            <translation>small: 10 Millionen Parameter, für 32x32 Pixel; torchvision: 129 Millionen.</translation>
        </message>
        <message>
            <source>so many may not stand below it</source>
            <translation>so viele dürfen nicht darunter stehen</translation>
        </message>
        <message>
            <source>source of the order</source>
            <translation>Quelle des Auftrags</translation>
        </message>
        <message>
            <source>standard output</source>
            <translation>Standardausgabe</translation>
        </message>
        <message>
            <source>state</source>
            <translation>Zustand</translation>
        </message>
        <message>
            <source>statement</source>
            <translation>Erklärung</translation>
        </message>
        <message>
            <source>statement on rows</source>
            <translation>Erklärung zu Zeilen</translation>
        </message>
        <message>
            <source>statement on rules</source>
            <translation>Erklärung zu Regeln</translation>
        </message>
        <message>
            <source>stays open: {0}</source>
            <translation>bleibt offen: {0}</translation>
        </message>
        <message>
            <source>step record</source>
            <translation>Schritteintrag</translation>
        </message>
        <message>
            <source>step {0}</source>
            <translation>Schritt {0}</translation>
        </message>
        <message>
            <source>steps of the run</source>
            <translation>Schritte des Laufs</translation>
        </message>
        <message>
            <source>steps were replayed although a check before that was not passed</source>
            <translation>Schritte wurden nachgerechnet, obwohl eine Prüfung davor nicht bestanden ist</translation>
        </message>
        <message>
            <source>steps were replayed of no run</source>
            <translation>es wurden Schritte nachgerechnet, aber von keinem Lauf</translation>
        </message>
        <message>
            <source>stores the times of its changes, which no bundle does.</source>
            <translation>hält die Zeiten seiner Änderungen fest, was kein Bündel tut.</translation>
        </message>
        <message>
            <source>subnormal numbers</source>
            <translation>das Rechnen mit subnormalen Zahlen</translation>
        </message>
        <message>
            <source>summary</source>
            <translation>Zusammenfassung</translation>
        </message>
        <message>
            <source>takes integers, which have to be converted first</source>
            <translation>nimmt ganze Zahlen, die zuerst umgewandelt werden müssen</translation>
        </message>
        <message>
            <source>targets</source>
            <translation>Zielwerte</translation>
        </message>
        <message>
            <source>tensors that differ: {0}</source>
            <translation>abweichende Tensoren: {0}</translation>
        </message>
        <message>
            <source>that is a folder</source>
            <translation>das ist ein Ordner</translation>
        </message>
        <message>
            <source>that is not a regular file</source>
            <translation>das ist keine gewöhnliche Datei</translation>
        </message>
        <message>
            <source>that of --key</source>
            <translation>der des Schlüssels</translation>
        </message>
        <message>
            <source>the Philox generator</source>
            <translation>den Philox-Generator</translation>
        </message>
        <message>
            <source>the SHA-256 of each file: shows damage on the way, and nothing about who made it</source>
            <translation>der SHA-256 jeder Datei: zeigt Schäden unterwegs, und nichts darüber, wer sie gemacht hat</translation>
        </message>
        <message>
            <source>the acceptance of an order</source>
            <translation>die Annahme eines Auftrags</translation>
        </message>
        <message>
            <source>the agreed state before it</source>
            <translation>dem gemeinsamen Zustand davor</translation>
        </message>
        <message>
            <source>the auditor</source>
            <translation>der Prüfer</translation>
        </message>
        <message>
            <source>the auditor who signed this verdict</source>
            <translation>Prüfer, der dieses Urteil unterschrieb</translation>
        </message>
        <message>
            <source>the bundle</source>
            <translation>das Bündel</translation>
        </message>
        <message>
            <source>the capsule</source>
            <translation>die Kapsel</translation>
        </message>
        <message>
            <source>the card</source>
            <translation>die Karte</translation>
        </message>
        <message>
            <source>the claim of a run</source>
            <translation>die Erklärung eines Laufs</translation>
        </message>
        <message>
            <source>the client's order was given, and is not named</source>
            <translation>der Auftrag des Auftraggebers wurde angegeben und ist nicht genannt</translation>
        </message>
        <message>
            <source>the client's own</source>
            <translation>der des Auftraggebers</translation>
        </message>
        <message>
            <source>the comparison of an order with a script</source>
            <translation>den Vergleich eines Auftrags mit einem Skript</translation>
        </message>
        <message>
            <source>the copy</source>
            <translation>die Kopie</translation>
        </message>
        <message>
            <source>the data array {0}</source>
            <translation>das Datenfeld {0}</translation>
        </message>
        <message>
            <source>the data file</source>
            <translation>die Datendatei</translation>
        </message>
        <message>
            <source>the data of its facts are not in order</source>
            <translation>die Daten seiner Angaben stehen nicht in der richtigen Reihenfolge</translation>
        </message>
        <message>
            <source>the default</source>
            <translation>Voreinstellung</translation>
        </message>
        <message>
            <source>the device</source>
            <translation>das Gerät</translation>
        </message>
        <message>
            <source>the disk is full</source>
            <translation>der Datenträger ist voll</translation>
        </message>
        <message>
            <source>the disk is read-only</source>
            <translation>der Datenträger kann nur gelesen werden</translation>
        </message>
        <message>
            <source>the disk reports an error</source>
            <translation>der Datenträger arbeitet nicht, wie er soll</translation>
        </message>
        <message>
            <source>the dispute capsule</source>
            <translation>die Streitfallkapsel</translation>
        </message>
        <message>
            <source>the disputed step with its proofs: anybody can replay it</source>
            <translation>der strittige Schritt mit seinen Beweisen: Jeder kann ihn nachrechnen</translation>
        </message>
        <message>
            <source>the facts of a run</source>
            <translation>die Fakten zu einem Lauf</translation>
        </message>
        <message>
            <source>the file</source>
            <translation>die Datei</translation>
        </message>
        <message>
            <source>the file is larger than is allowed there</source>
            <translation>die Datei ist größer, als dort erlaubt ist</translation>
        </message>
        <message>
            <source>the file of tree heads</source>
            <translation>die Datei der Baumköpfe</translation>
        </message>
        <message>
            <source>the fingerprints of step {0}</source>
            <translation>die Fingerabdrücke von Schritt {0}</translation>
        </message>
        <message>
            <source>the folder to hand over</source>
            <translation>der Ordner zum Übergeben</translation>
        </message>
        <message>
            <source>the initial state</source>
            <translation>der Anfangszustand</translation>
        </message>
        <message>
            <source>the job's own</source>
            <translation>das der Aufgabe</translation>
        </message>
        <message>
            <source>the key file</source>
            <translation>die Schlüsseldatei</translation>
        </message>
        <message>
            <source>the key you gave</source>
            <translation>dem Schlüssel, den Sie angegeben haben</translation>
        </message>
        <message>
            <source>the last</source>
            <translation>der letzte</translation>
        </message>
        <message>
            <source>the list of a release</source>
            <translation>die Liste einer Veröffentlichung</translation>
        </message>
        <message>
            <source>the list of cases</source>
            <translation>die Liste der Fälle</translation>
        </message>
        <message>
            <source>the list of keys</source>
            <translation>die Liste der Schlüssel</translation>
        </message>
        <message>
            <source>the list of revoked keys</source>
            <translation>die Liste widerrufener Schlüssel</translation>
        </message>
        <message>
            <source>the log</source>
            <translation>das Protokoll</translation>
        </message>
        <message>
            <source>the name is too long</source>
            <translation>der Name ist zu lang</translation>
        </message>
        <message>
            <source>the next four decide</source>
            <translation>die nächsten vier entscheiden</translation>
        </message>
        <message>
            <source>the nonce of the audit</source>
            <translation>die Nonce der Prüfung</translation>
        </message>
        <message>
            <source>the operations of its facts are not in order</source>
            <translation>die Operationen seiner Angaben stehen nicht in der richtigen Reihenfolge</translation>
        </message>
        <message>
            <source>the operations of its facts do not add up</source>
            <translation>die Operationen seiner Angaben ergeben nicht die Summe</translation>
        </message>
        <message>
            <source>the operations of its facts have another precision than the order</source>
            <translation>die Operationen seiner Angaben haben eine andere Genauigkeit als der Auftrag</translation>
        </message>
        <message>
            <source>the order</source>
            <translation>der Auftrag</translation>
        </message>
        <message>
            <source>the order itself, replaced whole</source>
            <translation>der Auftrag selbst, ganz ersetzt</translation>
        </message>
        <message>
            <source>the part of an audit</source>
            <translation>der Teil einer Prüfung</translation>
        </message>
        <message>
            <source>the party with the key {0} answers for it, and did not sign it</source>
            <translation>Die Partei mit dem Schlüssel {0} steht für ihn ein und hat ihn nicht unterschrieben</translation>
        </message>
        <message>
            <source>the per-step scalars</source>
            <translation>die Skalare der Schritte</translation>
        </message>
        <message>
            <source>the picture</source>
            <translation>das Bild</translation>
        </message>
        <message>
            <source>the place of the tensor {0} is not one</source>
            <translation>die Lage des Tensors {0} ist keine</translation>
        </message>
        <message>
            <source>the program</source>
            <translation>das Programm</translation>
        </message>
        <message>
            <source>the program {0}</source>
            <translation>das Programm {0}</translation>
        </message>
        <message>
            <source>the progress of the audit</source>
            <translation>der Fortschritt der Prüfung</translation>
        </message>
        <message>
            <source>the public key</source>
            <translation>der öffentliche Schlüssel</translation>
        </message>
        <message>
            <source>the public key that checks it</source>
            <translation>der öffentliche Schlüssel, mit dem man sie prüft</translation>
        </message>
        <message>
            <source>the recording</source>
            <translation>die Aufzeichnung</translation>
        </message>
        <message>
            <source>the replay of a training step</source>
            <translation>die Nachrechnung eines Trainingsschritts</translation>
        </message>
        <message>
            <source>the report</source>
            <translation>der Bericht</translation>
        </message>
        <message>
            <source>the result</source>
            <translation>das Ergebnis</translation>
        </message>
        <message>
            <source>the rounding log</source>
            <translation>das Rundungsprotokoll</translation>
        </message>
        <message>
            <source>the rounding log of step {0}</source>
            <translation>das Rundungsprotokoll von Schritt {0}</translation>
        </message>
        <message>
            <source>the row tree of the data array {0}</source>
            <translation>der Zeilenbaum des Datenfelds {0}</translation>
        </message>
        <message>
            <source>the run</source>
            <translation>der Lauf</translation>
        </message>
        <message>
            <source>the same report for a browser; not signed either</source>
            <translation>derselbe Bericht für den Browser; ebenfalls nicht unterschrieben</translation>
        </message>
        <message>
            <source>the same, sealed: named judges can open it, and nobody else</source>
            <translation>dasselbe, versiegelt: Benannte Schiedsrichter können es öffnen, sonst niemand</translation>
        </message>
        <message>
            <source>the schedule</source>
            <translation>der Ablauf</translation>
        </message>
        <message>
            <source>the score of its facts has counts of another shape than they say</source>
            <translation>das Ergebnis seiner Fakten hat Zählungen einer anderen Form, als sie sagen</translation>
        </message>
        <message>
            <source>the sealed file</source>
            <translation>die versiegelte Datei</translation>
        </message>
        <message>
            <source>the secret key</source>
            <translation>der geheime Schlüssel</translation>
        </message>
        <message>
            <source>the segments that are asked for</source>
            <translation>die verlangten Segmente</translation>
        </message>
        <message>
            <source>the settings</source>
            <translation>die Einstellungen</translation>
        </message>
        <message>
            <source>the shape of the tensor {0} is not a list of lengths</source>
            <translation>die Form des Tensors {0} ist keine Liste von Längen</translation>
        </message>
        <message>
            <source>the shares of step {0}</source>
            <translation>die Anteile von Schritt {0}</translation>
        </message>
        <message>
            <source>the signed fingerprints of the rows of {0} are not those of the ordered ones</source>
            <translation>die unterschriebenen Fingerabdrücke der Zeilen von {0} sind nicht die der bestellten</translation>
        </message>
        <message>
            <source>the state after step {0}</source>
            <translation>der Zustand nach Schritt {0}</translation>
        </message>
        <message>
            <source>the state tensor {0}</source>
            <translation>der Zustandstensor {0}</translation>
        </message>
        <message>
            <source>the state that the run itself commits to</source>
            <translation>dem Zustand, auf den sich der Lauf selbst festlegt</translation>
        </message>
        <message>
            <source>the stored state of step {0}</source>
            <translation>der gespeicherte Zustand von Schritt {0}</translation>
        </message>
        <message>
            <source>the system does not allow it</source>
            <translation>das System erlaubt es nicht</translation>
        </message>
        <message>
            <source>the system failed</source>
            <translation>das System hat versagt</translation>
        </message>
        <message>
            <source>the table of steps</source>
            <translation>die Schritttabelle</translation>
        </message>
        <message>
            <source>the tensor {0}</source>
            <translation>der Tensor {0}</translation>
        </message>
        <message>
            <source>the tensor {0} has another size than its shape and dtype ask for</source>
            <translation>der Tensor {0} hat eine andere Größe, als Form und Typ verlangen</translation>
        </message>
        <message>
            <source>the tensor {0} has the dtype {1}, which is not read</source>
            <translation>der Tensor {0} hat den Typ {1}, der nicht gelesen wird</translation>
        </message>
        <message>
            <source>the tensor {0} has truth values other than 0 and 1</source>
            <translation>der Tensor {0} hat andere Wahrheitswerte als 0 und 1</translation>
        </message>
        <message>
            <source>the tensor {0} {1}</source>
            <translation>der Tensor {0} {1}</translation>
        </message>
        <message>
            <source>the text</source>
            <translation>der Text</translation>
        </message>
        <message>
            <source>the texts of its header are not texts</source>
            <translation>die Texte ihres Kopfes sind keine Texte</translation>
        </message>
        <message>
            <source>the trainer who signed the run</source>
            <translation>Trainer, der den Lauf unterschrieb</translation>
        </message>
        <message>
            <source>the trainer's signature</source>
            <translation>Unterschrift des Trainers</translation>
        </message>
        <message>
            <source>the tree heads</source>
            <translation>die Baumköpfe</translation>
        </message>
        <message>
            <source>the update program</source>
            <translation>das Aktualisierungsprogramm</translation>
        </message>
        <message>
            <source>the update program {0}</source>
            <translation>das Aktualisierungsprogramm {0}</translation>
        </message>
        <message>
            <source>the verdict</source>
            <translation>das Urteil</translation>
        </message>
        <message>
            <source>the version of Counterfoil</source>
            <translation>die Version von Counterfoil</translation>
        </message>
        <message>
            <source>the version of torch</source>
            <translation>die Version von torch</translation>
        </message>
        <message>
            <source>the window is not installed</source>
            <translation>das Fenster ist nicht installiert</translation>
        </message>
        <message>
            <source>the withdrawal of a verdict</source>
            <translation>die Rücknahme eines Urteils</translation>
        </message>
        <message>
            <source>there is a folder of this name</source>
            <translation>es gibt einen Ordner dieses Namens</translation>
        </message>
        <message>
            <source>there is no such folder</source>
            <translation>diesen Ordner gibt es nicht</translation>
        </message>
        <message>
            <source>they are added</source>
            <translation>sie werden addiert</translation>
        </message>
        <message>
            <source>this page</source>
            <translation>diese Seite</translation>
        </message>
        <message>
            <source>those of the folder</source>
            <translation>die des Ordners</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>Tokens</translation>
        </message>
        <message>
            <source>torch computes with</source>
            <translation>torch rechnet mit</translation>
        </message>
        <message>
            <source>torch does not accept the switch for deterministic algorithms.</source>
            <translation>torch nimmt den Schalter für deterministische Algorithmen nicht an.</translation>
        </message>
        <message>
            <source>torch's operators</source>
            <translation>Operatoren von torch</translation>
        </message>
        <message>
            <source>trainer's acceptance of the order</source>
            <translation>Annahme des Auftrags durch den Trainer</translation>
        </message>
        <message>
            <source>tree head</source>
            <translation>Baumkopf</translation>
        </message>
        <message>
            <source>truncated</source>
            <translation>abgeschnitten</translation>
        </message>
        <message>
            <source>unsigned</source>
            <translation>ohne Unterschrift</translation>
        </message>
        <message>
            <source>uses HDF5 filters, which is not allowed.</source>
            <translation>benutzt HDF5-Filter, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>verdict</source>
            <translation>Urteil</translation>
        </message>
        <message>
            <source>verdict's coverage</source>
            <translation>Umfang des Urteils</translation>
        </message>
        <message>
            <source>verdict's dispute</source>
            <translation>Streitfall des Urteils</translation>
        </message>
        <message>
            <source>verdict's operator</source>
            <translation>Operator des Urteils</translation>
        </message>
        <message>
            <source>verdict's sample</source>
            <translation>Stichprobe des Urteils</translation>
        </message>
        <message>
            <source>versions and folders</source>
            <translation>Versionen und Ordner</translation>
        </message>
        <message>
            <source>was ended by signal {0}</source>
            <translation>wurde durch das Signal {0} beendet</translation>
        </message>
        <message>
            <source>weights: the last stored state leaves out what the optimizer keeps, so that the run is smaller. It is judged as any other; nobody can train on from its end.</source>
            <translation>weights: Der letzte gespeicherte Zustand lässt weg, was der Optimierer behält, sodass der Lauf kleiner ist. Er wird beurteilt wie jeder andere; niemand kann von seinem Ende aus weitertrainieren.</translation>
        </message>
        <message>
            <source>what a model answered</source>
            <translation>was ein Modell geantwortet hat</translation>
        </message>
        <message>
            <source>what a run did with rows</source>
            <translation>was ein Lauf mit Zeilen gemacht hat</translation>
        </message>
        <message>
            <source>what a run showed of rules</source>
            <translation>was ein Lauf zu Regeln zeigt</translation>
        </message>
        <message>
            <source>what a share of a step gave</source>
            <translation>was ein Anteil eines Schritts ergab</translation>
        </message>
        <message>
            <source>what counts: the auditor's signed statement</source>
            <translation>das, worauf es ankommt: die unterschriebene Aussage des Prüfers</translation>
        </message>
        <message>
            <source>what stands under {0} does not describe a tensor</source>
            <translation>was unter {0} steht, beschreibt keinen Tensor</translation>
        </message>
        <message>
            <source>what the trainer signed about this step is wrong. That the state after it is another is not shown by it.</source>
            <translation>was der Trainer über diesen Schritt unterschrieben hat, ist falsch. Dass der Zustand danach ein anderer ist, ist damit nicht gezeigt.</translation>
        </message>
        <message>
            <source>what the trainer signed as the result of this step is not what was ordered.</source>
            <translation>was der Trainer als Ergebnis dieses Schritts unterschrieben hat, ist nicht das bestellte.</translation>
        </message>
        <message>
            <source>what was added of a share</source>
            <translation>was von einem Anteil addiert wurde</translation>
        </message>
        <message>
            <source>what was followed</source>
            <translation>was verfolgt wurde</translation>
        </message>
        <message>
            <source>what was sealed</source>
            <translation>was versiegelt war</translation>
        </message>
        <message>
            <source>whether it goes on after a dispute</source>
            <translation>ob sie nach einem Streitfall weitergeht</translation>
        </message>
        <message>
            <source>withdrawal of a verdict</source>
            <translation>Rücknahme eines Urteils</translation>
        </message>
        <message>
            <source>writes numbers of one type into a tensor of another</source>
            <translation>schreibt Zahlen eines Typs in einen Tensor eines anderen</translation>
        </message>
        <message>
            <source>you do not have permission to write there</source>
            <translation>Sie dürfen dort nicht schreiben</translation>
        </message>
        <message>
            <source>your quota of the disk is used up</source>
            <translation>Ihr Anteil am Datenträger ist aufgebraucht</translation>
        </message>
        <message>
            <source>{0:,} counts</source>
            <translation>{0:,} Zählungen</translation>
        </message>
        <message>
            <source>{0:,} entries, {1:,} bytes in all {2:,} steps of the run</source>
            <translation>{0:,} Einträge, {1:,} Bytes in allen {2:,} Schritten des Laufs</translation>
        </message>
        <message>
            <source>{0:,} entries, {1:,} bytes in the {2:,} steps that match; {3:,} corrections, {4:,} contradictions, {5:,} omissions</source>
            <translation>{0:,} Einträge, {1:,} Bytes in den {2:,} Schritten, die übereinstimmen; {3:,} Korrekturen, {4:,} Widersprüche, {5:,} Auslassungen</translation>
        </message>
        <message>
            <source>{0:,} of {1:,} right ({2:.2f} %)</source>
            <translation>{0:,} von {1:,} richtig ({2:.2f} %)</translation>
        </message>
        <message>
            <source>{0:,} of {1:,} rows of {2}</source>
            <translation>{0:,} von {1:,} Zeilen von {2}</translation>
        </message>
        <message>
            <source>{0:,} of {1:,} segments with {2:,} judged steps, the last of them step {3:,}</source>
            <translation>{0:,} von {1:,} Segmenten mit {2:,} beurteilten Schritten, der letzte davon Schritt {3:,}</translation>
        </message>
        <message>
            <source>{0:,} of {1}</source>
            <translation>{0:,} von {1}</translation>
        </message>
        <message>
            <source>{0:,} ordered{1}, {2:,} judged{3}</source>
            <translation>{0:,} bestellt{1}, {2:,} beurteilt{3}</translation>
        </message>
        <message>
            <source>{0:,} tensors of the model, {1:,} bytes</source>
            <translation>{0:,} Tensoren des Modells, {1:,} Bytes</translation>
        </message>
        <message>
            <source>{0:,} to {1:,}</source>
            <translation>{0:,} bis {1:,}</translation>
        </message>
        <message>
            <source>{0:.1f} GiB</source>
            <translation>{0:.1f} GiB</translation>
        </message>
        <message>
            <source>{0:.1f} GiB, of which {1:.1f} can be taken</source>
            <translation>{0:.1f} GiB, davon {1:.1f} verfügbar</translation>
        </message>
        <message>
            <source>{0:capital} cannot be written to {1}: there is a file of this name.</source>
            <translation>{0:capital} lässt sich nicht nach {1} schreiben: es gibt schon eine Datei dieses Namens.</translation>
        </message>
        <message>
            <source>{0:capital} cannot be written to {1}: {2}.</source>
            <translation>{0:capital} lässt sich nicht nach {1} schreiben: {2}.</translation>
        </message>
        <message>
            <source>{0:capital} in the bundle differs from what the order commits to.</source>
            <translation>{0:capital} im Bündel ist nicht, worauf sich der Auftrag festlegt.</translation>
        </message>
        <message>
            <source>{0:capital} was not made: {1}.</source>
            <translation>{0:capital} wurde nicht erstellt: {1}.</translation>
        </message>
        <message>
            <source>{0} (signed by a trusted auditor, with the key {1}).</source>
            <translation>{0} (unterschrieben von einem Prüfer, dem vertraut wird, mit dem Schlüssel {1}).</translation>
        </message>
        <message>
            <source>{0} (signed by the client).</source>
            <translation>{0} (unterschrieben vom Auftraggeber).</translation>
        </message>
        <message>
            <source>{0} (signed with the key that signed the order, {1}).</source>
            <translation>{0} (unterschrieben mit dem Schlüssel, der den Auftrag unterschrieben hat, {1}).</translation>
        </message>
        <message>
            <source>{0} (the file's word: it is signed with the key {1}, of which nobody said that it is the client's or a trusted auditor's).</source>
            <translation>{0} (nur das Wort der Datei: Sie ist mit dem Schlüssel {1} unterschrieben, von dem niemand gesagt hat, dass er dem Auftraggeber oder einem Prüfer gehört, dem vertraut wird).</translation>
        </message>
        <message>
            <source>{0} (the file's word: it is signed with the key {1}, which was revoked).</source>
            <translation>{0} (nur das Wort der Datei: Sie ist mit dem Schlüssel {1} unterschrieben, der widerrufen wurde).</translation>
        </message>
        <message>
            <source>{0} (the file's word: nobody has signed it).</source>
            <translation>{0} (nur das Wort der Datei: Niemand hat sie unterschrieben).</translation>
        </message>
        <message>
            <source>{0} -&gt; {1} significand bits, {2} guard bits</source>
            <translation>{0} -&gt; {1} Mantissenbits, {2} Schutzbits</translation>
        </message>
        <message>
            <source>{0} All {1} stored states have the state roots of their steps.</source>
            <translation>{0} Alle {1} gespeicherten Zustände haben die Zustandswurzeln ihrer Schritte.</translation>
        </message>
        <message>
            <source>{0} An earlier difference could be rounding on other hardware; this one cannot.</source>
            <translation>{0} Ein früherer Unterschied könnte Rundung auf anderer Hardware sein; dieser nicht.</translation>
        </message>
        <message>
            <source>{0} Before that, step {1} came out different from the trainer's; a verdict would name a file that is no more, but the dispute capsule of that step stands by itself.</source>
            <translation>{0} Davor kam Schritt {1} anders heraus als beim Trainer; ein Urteil würde eine Datei nennen, die es nicht mehr gibt, aber die Streitfallkapsel dieses Schritts steht für sich.</translation>
        </message>
        <message>
            <source>{0} Nobody is to blame for what such a file says.</source>
            <translation>{0} Was eine solche Datei sagt, wird niemandem vorgeworfen.</translation>
        </message>
        <message>
            <source>{0} Nothing can be concluded about the training.</source>
            <translation>{0} Über das Training lässt sich nichts schließen.</translation>
        </message>
        <message>
            <source>{0} Nothing was concluded about the dispute.</source>
            <translation>{0} Über den Streitfall wurde nichts geschlossen.</translation>
        </message>
        <message>
            <source>{0} Nothing was concluded about the training.</source>
            <translation>{0} Über das Training wurde nichts geschlossen.</translation>
        </message>
        <message>
            <source>{0} One of the auditors replayed every step.</source>
            <translation>{0} Einer der Prüfer hat jeden Schritt wiederholt.</translation>
        </message>
        <message>
            <source>{0} One of the auditors replayed that step.</source>
            <translation>{0} Einer der Prüfer hat diesen Schritt nachgerechnet.</translation>
        </message>
        <message>
            <source>{0} The bundle was damaged or altered after it was signed.</source>
            <translation>{0} Das Bündel wurde nach der Unterschrift beschädigt oder verändert.</translation>
        </message>
        <message>
            <source>{0} The trainer says so; no verdict was given by one of the auditors who replayed every step.</source>
            <translation>{0} Das sagt der Trainer; kein Urteil eines der Prüfer liegt vor, der jeden Schritt wiederholt hat.</translation>
        </message>
        <message>
            <source>{0} The trainer says so; no verdict was given by one of the auditors who replayed that step.</source>
            <translation>{0} Das sagt der Trainer; kein Urteil eines der Prüfer, der diesen Schritt nachgerechnet hat, wurde angegeben.</translation>
        </message>
        <message>
            <source>{0} The trainer signed it.</source>
            <translation>{0} Der Trainer hat ihn unterschrieben.</translation>
        </message>
        <message>
            <source>{0} With these values the steps come out as the trainer signed them.</source>
            <translation>{0} Mit diesen Werten kommen die Schritte so heraus, wie der Trainer sie unterschrieben hat.</translation>
        </message>
        <message>
            <source>{0} and {1}</source>
            <translation>{0} und {1}</translation>
        </message>
        <message>
            <source>{0} and {1} are of different numbers.</source>
            <translation>{0} und {1} sind verschieden viele.</translation>
        </message>
        <message>
            <source>{0} are</source>
            <translation>nur {0}</translation>
        </message>
        <message>
            <source>{0} are not as RECORD says: {1}</source>
            <translation>{0} sind nicht so, wie RECORD sagt: {1}</translation>
        </message>
        <message>
            <source>{0} asks for nothing: there is no rule in it.</source>
            <translation>{0} verlangt nichts: Es steht keine Regel darin.</translation>
        </message>
        <message>
            <source>{0} beside the verdict cannot be read.</source>
            <translation>{0} neben dem Urteil lässt sich nicht lesen.</translation>
        </message>
        <message>
            <source>{0} bytes</source>
            <translation>{0} Bytes</translation>
        </message>
        <message>
            <source>{0} can grow, which no dataset of a bundle can.</source>
            <translation>{0} kann wachsen, was kein Datensatz eines Bündels kann.</translation>
        </message>
        <message>
            <source>{0} cannot be read as {1}: {2}.</source>
            <translation>{0} kann nicht als {1} gelesen werden: {2}.</translation>
        </message>
        <message>
            <source>{0} cannot be read: {1}.</source>
            <translation>{0} kann nicht gelesen werden: {1}.</translation>
        </message>
        <message>
            <source>{0} cannot be removed: {1}.</source>
            <translation>{0} kann nicht entfernt werden: {1}.</translation>
        </message>
        <message>
            <source>{0} cannot be used. {1}</source>
            <translation>{0} kann nicht benutzt werden. {1}</translation>
        </message>
        <message>
            <source>{0} could have been written by somebody else, so nothing that it says can be relied on.</source>
            <translation>{0} könnte jemand anderes geschrieben haben; auf nichts darin ist Verlass.</translation>
        </message>
        <message>
            <source>{0} could not be removed: {1}.</source>
            <translation>{0} konnte nicht entfernt werden: {1}.</translation>
        </message>
        <message>
            <source>{0} declares a fill value, or none as a bundle does.</source>
            <translation>{0} gibt einen Füllwert an oder keinen, wie es ein Bündel tut.</translation>
        </message>
        <message>
            <source>{0} declares the shape {1}, which is larger than any file.</source>
            <translation>{0} gibt die Form {1} an, die größer ist als jede Datei.</translation>
        </message>
        <message>
            <source>{0} declares {1} bytes of data and does not hold as many.</source>
            <translation>{0} gibt {1} Bytes Daten an und enthält nicht so viele.</translation>
        </message>
        <message>
            <source>{0} does not count. {1}</source>
            <translation>{0} zählt nicht. {1}</translation>
        </message>
        <message>
            <source>{0} does not cut the rounding logs of the steps.</source>
            <translation>{0} zerlegt die Rundungsprotokolle der Schritte nicht.</translation>
        </message>
        <message>
            <source>{0} does not cut the {1} bytes of {2} into steps.</source>
            <translation>{0} teilt die {1} Bytes von {2} nicht in Schritte.</translation>
        </message>
        <message>
            <source>{0} does not cut {1} into steps.</source>
            <translation>{0} teilt {1} nicht in Schritte.</translation>
        </message>
        <message>
            <source>{0} does not hold the bytes and the proofs of the chunks that it names.</source>
            <translation>{0} enthält nicht die Bytes und die Beweise der Stücke, die es nennt.</translation>
        </message>
        <message>
            <source>{0} does not hold the bytes and the salts of the rows that it names.</source>
            <translation>{0} enthält nicht die Bytes und die Salze der Zeilen, die es nennt.</translation>
        </message>
        <message>
            <source>{0} does not hold the proofs of the rows that it names.</source>
            <translation>{0} enthält nicht die Beweise der Zeilen, die es nennt.</translation>
        </message>
        <message>
            <source>{0} does not hold what {1} shares give of one tensor, in float32.</source>
            <translation>{0} enthält nicht, was {1} Anteile von einem Tensor ergeben, in float32.</translation>
        </message>
        <message>
            <source>{0} elements moved the other way.</source>
            <translation>{0} Elemente bewegten sich in die andere Richtung.</translation>
        </message>
        <message>
            <source>{0} entries for {1} rounded values: {2} corrections, {3} contradictions, {4} omissions.</source>
            <translation>{0} Einträge für {1} gerundete Werte: {2} Korrekturen, {3} Widersprüche, {4} Auslassungen.</translation>
        </message>
        <message>
            <source>{0} entries in matching steps: {1} corrections, {2} contradictions, {3} omissions.</source>
            <translation>{0} Einträge in übereinstimmenden Schritten: {1} Korrekturen, {2} Widersprüche, {3} Auslassungen.</translation>
        </message>
        <message>
            <source>{0} exists already.</source>
            <translation>{0} gibt es schon.</translation>
        </message>
        <message>
            <source>{0} exists already; a key is never overwritten.</source>
            <translation>{0} gibt es schon; ein Schlüssel wird nie überschrieben.</translation>
        </message>
        <message>
            <source>{0} for {1}</source>
            <translation>{0} für {1}</translation>
        </message>
        <message>
            <source>{0} guard bits are not supported with {1}; 0 to {2} are.</source>
            <translation>{0} Schutzbits werden mit {1} nicht unterstützt; erlaubt sind 0 bis {2}.</translation>
        </message>
        <message>
            <source>{0} has a data type that a bundle does not know.</source>
            <translation>{0} hat einen Datentyp, den ein Bündel nicht kennt.</translation>
        </message>
        <message>
            <source>{0} has a layout of a form that no bundle has.</source>
            <translation>{0} hat eine Anordnung einer Form, die kein Bündel hat.</translation>
        </message>
        <message>
            <source>{0} has a shape of a form that no bundle has.</source>
            <translation>{0} hat eine Form, die anders angegeben ist als in jedem Bündel.</translation>
        </message>
        <message>
            <source>{0} has an HDF5 message of the type {1}, which no bundle has.</source>
            <translation>{0} hat eine HDF5-Nachricht vom Typ {1}, die kein Bündel hat.</translation>
        </message>
        <message>
            <source>{0} has an attribute, and only the root of a file may have one.</source>
            <translation>{0} hat ein Attribut, und nur die Wurzel einer Datei darf eines haben.</translation>
        </message>
        <message>
            <source>{0} has an object header longer than {1} bytes.</source>
            <translation>{0} hat einen Objektkopf, der länger als {1} Bytes ist.</translation>
        </message>
        <message>
            <source>{0} has an object header of more than {1} blocks.</source>
            <translation>{0} hat einen Objektkopf aus mehr als {1} Blöcken.</translation>
        </message>
        <message>
            <source>{0} has an object header of more than {1} messages.</source>
            <translation>{0} hat einen Objektkopf aus mehr als {1} Nachrichten.</translation>
        </message>
        <message>
            <source>{0} has an object header with a block of {1} bytes, which no bundle has.</source>
            <translation>{0} hat einen Objektkopf mit einem Block von {1} Bytes, den kein Bündel hat.</translation>
        </message>
        <message>
            <source>{0} has an object header with settings that no bundle has.</source>
            <translation>{0} hat einen Objektkopf mit Einstellungen, die kein Bündel hat.</translation>
        </message>
        <message>
            <source>{0} has an old object header without a checksum.</source>
            <translation>{0} hat einen alten Objektkopf ohne Prüfsumme.</translation>
        </message>
        <message>
            <source>{0} has its data outside the file.</source>
            <translation>{0} hat seine Daten außerhalb der Datei.</translation>
        </message>
        <message>
            <source>{0} has little float64, 1/{1} of the rate of its float32, and this order computes in it: a step takes many times as long there. {2}</source>
            <translation>{0} hat wenig float64, 1/{1} der Geschwindigkeit von float32, und dieser Auftrag rechnet damit: ein Schritt dauert dort ein Vielfaches. {2}</translation>
        </message>
        <message>
            <source>{0} has no float64, in which this order computes. {1}</source>
            <translation>{0} hat kein float64, mit dem dieser Auftrag rechnet. {1}</translation>
        </message>
        <message>
            <source>{0} has no object header of version 2.</source>
            <translation>{0} hat keinen Objektkopf der Version 2.</translation>
        </message>
        <message>
            <source>{0} has no shape, or no place for its data.</source>
            <translation>{0} hat keine Form oder keinen Platz für seine Daten.</translation>
        </message>
        <message>
            <source>{0} has no shape.</source>
            <translation>{0} hat keine Form.</translation>
        </message>
        <message>
            <source>{0} has the dtype {1} and the shape {2}; it should have {3} and [{4}].</source>
            <translation>{0} hat den Typ {1} und die Form {2}; es sollten {3} und [{4}] sein.</translation>
        </message>
        <message>
            <source>{0} has {1} rows, and not those from {2} to {3}.</source>
            <translation>{0} hat {1} Zeilen und nicht die von {2} bis {3}.</translation>
        </message>
        <message>
            <source>{0} holds a chunk that its array does not have.</source>
            <translation>{0} enthält ein Stück, das sein Feld nicht hat.</translation>
        </message>
        <message>
            <source>{0} holds a private key; a public one is needed.</source>
            <translation>{0} enthält einen privaten Schlüssel; gebraucht wird ein öffentlicher.</translation>
        </message>
        <message>
            <source>{0} holds a row that its array does not have.</source>
            <translation>{0} enthält eine Zeile, die sein Datenfeld nicht hat.</translation>
        </message>
        <message>
            <source>{0} holds a truth value that is neither 0 nor 1.</source>
            <translation>{0} enthält einen Wahrheitswert, der weder 0 noch 1 ist.</translation>
        </message>
        <message>
            <source>{0} holds an object with the name {1}, which is not allowed in a bundle.</source>
            <translation>{0} enthält ein Objekt mit dem Namen {1}, der in einem Bündel nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>{0} holds no private key in PEM form.</source>
            <translation>{0} enthält keinen privaten Schlüssel in PEM-Form.</translation>
        </message>
        <message>
            <source>{0} holds no public key that Counterfoil takes. {1}</source>
            <translation>{0} enthält keinen öffentlichen Schlüssel, den Counterfoil annimmt. {1}</translation>
        </message>
        <message>
            <source>{0} holds no weights to compare: its steps train, and only an evaluation's leave them alone.</source>
            <translation>{0} enthält keine Gewichte zum Vergleichen: Ihre Schritte trainieren, und nur die einer Auswertung lassen sie, wie sie sind.</translation>
        </message>
        <message>
            <source>{0} holds nothing to replay.</source>
            <translation>{0} enthält nichts zum Nachrechnen.</translation>
        </message>
        <message>
            <source>{0} holds two objects of the same name.</source>
            <translation>{0} enthält zwei Objekte desselben Namens.</translation>
        </message>
        <message>
            <source>{0} in {1} is a link to somewhere else; a bundle holds hard links only.</source>
            <translation>{0} in {1} ist eine Verknüpfung nach anderswo; ein Bündel enthält nur feste Verknüpfungen.</translation>
        </message>
        <message>
            <source>{0} is a number; a condition compares it, for instance {1}.</source>
            <translation>{0} ist eine Zahl; eine Bedingung vergleicht sie, zum Beispiel {1}.</translation>
        </message>
        <message>
            <source>{0} is a part of another audit. What differs: {1}.</source>
            <translation>{0} ist ein Teil einer anderen Prüfung. Verschieden: {1}.</translation>
        </message>
        <message>
            <source>{0} is a pickle, which can run code when it is loaded and hold other weights than the files beside it.</source>
            <translation>{0} ist ein Pickle: Es kann beim Laden Code ausführen und andere Gewichte enthalten als die Dateien daneben.</translation>
        </message>
        <message>
            <source>{0} is a private sealing key.</source>
            <translation>{0} ist ein privater Siegelschlüssel.</translation>
        </message>
        <message>
            <source>{0} is a run of another order than the one that is watched.</source>
            <translation>{0} ist ein Lauf eines anderen Auftrags als des beobachteten.</translation>
        </message>
        <message>
            <source>{0} is a sealed file that was turned into text.</source>
            <translation>{0} ist eine versiegelte Datei, die in Text umgewandelt wurde.</translation>
        </message>
        <message>
            <source>{0} is a trainer's run. The order in it is what the trainer put there.</source>
            <translation>{0} ist der Lauf eines Trainers. Der Auftrag darin ist der, den der Trainer hineingelegt hat.</translation>
        </message>
        <message>
            <source>{0} is about a sample: {1} of {2} steps were replayed.</source>
            <translation>{0} gilt einer Stichprobe: {1} von {2} Schritten wurden nachgerechnet.</translation>
        </message>
        <message>
            <source>{0} is an order that nobody has run.</source>
            <translation>{0} ist ein Auftrag, den niemand ausgeführt hat.</translation>
        </message>
        <message>
            <source>{0} is an order: it has no losses yet.</source>
            <translation>{0} ist ein Auftrag: Er hat noch keine Verluste.</translation>
        </message>
        <message>
            <source>{0} is damaged.</source>
            <translation>{0} ist beschädigt.</translation>
        </message>
        <message>
            <source>{0} is damaged: it is not what was sealed.</source>
            <translation>{0} ist beschädigt: Es ist nicht, was versiegelt wurde.</translation>
        </message>
        <message>
            <source>{0} is larger than {1} bytes.</source>
            <translation>{0} ist größer als {1} Bytes.</translation>
        </message>
        <message>
            <source>{0} is larger than {1}, too large for {2}.</source>
            <translation>{0} ist größer als {1}, zu groß für {2}.</translation>
        </message>
        <message>
            <source>{0} is longer than {1} bytes.</source>
            <translation>{0} ist länger als {1} Bytes.</translation>
        </message>
        <message>
            <source>{0} is neither a group nor a dataset.</source>
            <translation>{0} ist weder Gruppe noch Datensatz.</translation>
        </message>
        <message>
            <source>{0} is no .npy file of numbers.</source>
            <translation>{0} ist keine .npy-Datei mit Zahlen.</translation>
        </message>
        <message>
            <source>{0} is no TOML file.</source>
            <translation>{0} ist keine TOML-Datei.</translation>
        </message>
        <message>
            <source>{0} is no address.</source>
            <translation>{0} ist keine Adresse.</translation>
        </message>
        <message>
            <source>{0} is no index of weights.</source>
            <translation>{0} ist kein Verzeichnis von Gewichten.</translation>
        </message>
        <message>
            <source>{0} is no name for a tensor</source>
            <translation>{0} ist kein Name für einen Tensor</translation>
        </message>
        <message>
            <source>{0} is no number.</source>
            <translation>{0} ist keine Zahl.</translation>
        </message>
        <message>
            <source>{0} is no order of a client's. {1}</source>
            <translation>{0} ist kein Auftrag eines Auftraggebers. {1}</translation>
        </message>
        <message>
            <source>{0} is no part of an audit.</source>
            <translation>{0} ist kein Teil einer Prüfung.</translation>
        </message>
        <message>
            <source>{0} is no private sealing key.</source>
            <translation>{0} ist kein privater Siegelschlüssel.</translation>
        </message>
        <message>
            <source>{0} is no public sealing key: one line that begins with age1.</source>
            <translation>{0} ist kein öffentlicher Siegelschlüssel: eine Zeile, die mit age1 beginnt.</translation>
        </message>
        <message>
            <source>{0} is no regular file, and no part of a recording.</source>
            <translation>{0} ist keine gewöhnliche Datei und kein Teil einer Aufzeichnung.</translation>
        </message>
        <message>
            <source>{0} is no regular file.</source>
            <translation>{0} ist keine gewöhnliche Datei.</translation>
        </message>
        <message>
            <source>{0} is no report to hand over: one PDF and one HTML file can go into the folder.</source>
            <translation>{0} ist kein Bericht zum Übergeben: In den Ordner kommen höchstens eine PDF- und eine HTML-Datei.</translation>
        </message>
        <message>
            <source>{0} is no result of a replay, or one of another version.</source>
            <translation>{0} ist kein Ergebnis einer Nachrechnung oder das einer anderen Version.</translation>
        </message>
        <message>
            <source>{0} is no round of a public beacon.</source>
            <translation>{0} ist keine Runde eines öffentlichen Signals.</translation>
        </message>
        <message>
            <source>{0} is no size of the text</source>
            <translation>{0} ist keine Größe des Textes</translation>
        </message>
        <message>
            <source>{0} is not a range of segments.</source>
            <translation>{0} ist kein Bereich von Segmenten.</translation>
        </message>
        <message>
            <source>{0} is not a sealed file, or its header is damaged.</source>
            <translation>{0} ist keine versiegelte Datei, oder ihr Kopf ist beschädigt.</translation>
        </message>
        <message>
            <source>{0} is not a sound safetensors file: {1}.</source>
            <translation>{0} ist keine einwandfreie safetensors-Datei: {1}.</translation>
        </message>
        <message>
            <source>{0} is not the name of a device.</source>
            <translation>{0} ist kein Name eines Geräts.</translation>
        </message>
        <message>
            <source>{0} is the name of another key, {1}, met since {2}.</source>
            <translation>{0} ist der Name eines anderen Schlüssels, {1}, bekannt seit {2}.</translation>
        </message>
        <message>
            <source>{0} is the very file that is examined: the order in it confirms nothing.</source>
            <translation>{0} ist die untersuchte Datei selbst: Der Auftrag darin bestätigt nichts.</translation>
        </message>
        <message>
            <source>{0} is too large for the progress of an audit.</source>
            <translation>{0} ist zu groß für den Fortschritt einer Prüfung.</translation>
        </message>
        <message>
            <source>{0} is {1}, and not a file that a verdict could be about.</source>
            <translation>{0} ist {1} und keine Datei, um die es in einem Urteil gehen könnte.</translation>
        </message>
        <message>
            <source>{0} is {1}, where {2} should be.</source>
            <translation>{0} ist {1}, wo {2} stehen sollte.</translation>
        </message>
        <message>
            <source>{0} lies on this machine, and the engine works on {1}.</source>
            <translation>{0} liegt auf diesem Rechner, gerechnet wird aber auf {1}.</translation>
        </message>
        <message>
            <source>{0} may hold other weights, which a library can load in the place of those that are compared.</source>
            <translation>{0} kann andere Gewichte enthalten, die eine Bibliothek anstelle der verglichenen lädt.</translation>
        </message>
        <message>
            <source>{0} must name the SHA-256 of {1} under its heading on the signature:</source>
            <translation>{0} muss unter der Überschrift zur Unterschrift den SHA-256 von {1} nennen:</translation>
        </message>
        <message>
            <source>{0} names no machine.</source>
            <translation>{0} nennt keinen Rechner.</translation>
        </message>
        <message>
            <source>{0} names the same SHA-256; compare it by eye.</source>
            <translation>{0} nennt denselben SHA-256; vergleichen Sie ihn mit dem Auge.</translation>
        </message>
        <message>
            <source>{0} of</source>
            <translation>{0} von</translation>
        </message>
        <message>
            <source>{0} of shape {1}, where the run has {2} of shape {3}</source>
            <translation>{0} mit der Form {1}, wo der Lauf {2} mit der Form {3} hat</translation>
        </message>
        <message>
            <source>{0} of {1}</source>
            <translation>{0} von {1}</translation>
        </message>
        <message>
            <source>{0} of {1} elements would be others, by up to {2} units in the last place and {3:.3g} at most.</source>
            <translation>{0} von {1} Elementen wären andere, um bis zu {2} Einheiten der letzten Stelle und höchstens {3:.3g}.</translation>
        </message>
        <message>
            <source>{0} of {1} judged steps match.</source>
            <translation>{0} von {1} beurteilten Schritten stimmen überein.</translation>
        </message>
        <message>
            <source>{0} of {1} judged steps match; step {2} does not.</source>
            <translation>{0} von {1} beurteilten Schritten stimmen überein; Schritt {2} nicht.</translation>
        </message>
        <message>
            <source>{0} of {1} ordered steps</source>
            <translation>{0} von {1} bestellten Schritten</translation>
        </message>
        <message>
            <source>{0} of {1} programs are among those that are allowed, by the order digest.</source>
            <translation>{0} von {1} Programmen gehören zu den erlaubten; durch den Auftrags-Hash gebunden.</translation>
        </message>
        <message>
            <source>{0} of {1} segments let a run with {2} of bad segments pass with a probability of at most {3}.</source>
            <translation>{0} von {1} Segmenten lassen einen Lauf mit einem Anteil {2} schlechter Segmente höchstens mit Wahrscheinlichkeit {3} durch.</translation>
        </message>
        <message>
            <source>{0} of {1} steps were judged.</source>
            <translation>{0} von {1} Schritten wurden beurteilt.</translation>
        </message>
        <message>
            <source>{0} of {1} steps were replayed, and every one came out exactly as the trainer signed it. {2}</source>
            <translation>{0} von {1} Schritten wurden nachgerechnet, und jeder kam genau so heraus, wie der Trainer ihn unterschrieben hat. {2}</translation>
        </message>
        <message>
            <source>{0} of {1} steps were replayed: a capsule is about one step, from the last committed state before it.</source>
            <translation>{0} von {1} Schritten wurden nachgerechnet: Eine Kapsel gilt einem Schritt, vom letzten festgelegten Zustand davor an.</translation>
        </message>
        <message>
            <source>{0} or {1}</source>
            <translation>{0} oder {1}</translation>
        </message>
        <message>
            <source>{0} says {1}, so there is no verified run to compare the weights with.</source>
            <translation>{0} sagt {1}; es gibt also keinen verifizierten Lauf, mit dem die Gewichte zu vergleichen wären.</translation>
        </message>
        <message>
            <source>{0} segment</source>
            <translation>{0} Segment</translation>
        </message>
        <message>
            <source>{0} segments</source>
            <translation>{0} Segmente</translation>
        </message>
        <message>
            <source>{0} shares a part of its header with another object, which is not allowed.</source>
            <translation>{0} teilt einen Teil seines Kopfs mit einem anderen Objekt, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>{0} shares of the first steps of {1} of {2} segments were replayed, each by itself from the stored state before it, and each gives what the trainer signed. If {3} or more of these {4} pairs of such a step and a share were wrong, so many pairs drawn at random would show none with a probability of {5:.3g}. Nothing is said of other steps, nor of combination and update, which take all shares: whole steps are replayed for that.</source>
            <translation>{0} Anteile der ersten Schritte von {1} der {2} Abschnitte wurden nachgerechnet, jeder für sich vom gespeicherten Zustand davor aus, und jeder ergibt, was der Trainer unterschrieben hat. Wären {3} oder mehr dieser {4} Paare aus einem solchen Schritt und einem Anteil falsch, zeigten so viele zufällig gezogene Paare mit einer Wahrscheinlichkeit von {5:.3g} keines davon. Über andere Schritte sagt das nichts, auch nicht über Zusammenführung und Aktualisierung, die alle Anteile brauchen: Dafür werden ganze Schritte nachgerechnet.</translation>
        </message>
        <message>
            <source>{0} should have the dtype {1} and the shape {2}; it has {3} and {4}.</source>
            <translation>{0} sollte den Typ {1} und die Form {2} haben; es sind {3} und {4}.</translation>
        </message>
        <message>
            <source>{0} signed fingerprints of step {1} that the ordered step does not give; the loss, and the state where one is signed, are those of the ordered step.</source>
            <translation>{0} unterschrieb Fingerabdrücke von Schritt {1}, die der beauftragte Schritt nicht ergibt; der Verlust, und der Zustand, wo einer unterschrieben ist, sind die des beauftragten Schritts.</translation>
        </message>
        <message>
            <source>{0} significand bits are not supported with {1}; {2}.</source>
            <translation>{0} Bits Mantisse werden mit {1} nicht unterstützt; {2}.</translation>
        </message>
        <message>
            <source>{0} stored states differ from the state roots of their steps ({1}).</source>
            <translation>Gespeicherte Zustände, die von den Zustandswurzeln ihrer Schritte abweichen: {0} ({1}).</translation>
        </message>
        <message>
            <source>{0} stores the times of its changes, which no bundle does.</source>
            <translation>{0} hält die Zeiten seiner Änderungen fest, was kein Bündel tut.</translation>
        </message>
        <message>
            <source>{0} things are wrong.</source>
            <translation>{0} Dinge sind falsch.</translation>
        </message>
        <message>
            <source>{0} threads cannot be used.</source>
            <translation>{0} Threads sind nicht benutzbar.</translation>
        </message>
        <message>
            <source>{0} to {1} are</source>
            <translation>erlaubt sind {0} bis {1}</translation>
        </message>
        <message>
            <source>{0} took no part: {1}</source>
            <translation>{0} nahm nicht teil: {1}</translation>
        </message>
        <message>
            <source>{0} tracks the order of its attributes, or is damaged.</source>
            <translation>{0} hält die Reihenfolge seiner Attribute fest oder ist beschädigt.</translation>
        </message>
        <message>
            <source>{0} tree heads that the trainer signed agree with it</source>
            <translation>{0} Baumköpfe, die der Trainer unterschrieben hat, stimmen damit überein</translation>
        </message>
        <message>
            <source>{0} uses the HDF5 filter number {1}, which is not allowed.</source>
            <translation>{0} benutzt den HDF5-Filter Nummer {1}, was nicht erlaubt ist.</translation>
        </message>
        <message>
            <source>{0} was not sealed for the key in {1}.</source>
            <translation>{0} wurde nicht für den Schlüssel in {1} versiegelt.</translation>
        </message>
        <message>
            <source>{0} was revoked from {1} on ({2}): "{3}".</source>
            <translation>{0} wurde ab {1} widerrufen ({2}): „{3}“.</translation>
        </message>
        <message>
            <source>{0} was written by another version of Counterfoil.</source>
            <translation>{0} wurde von einer anderen Version von Counterfoil geschrieben.</translation>
        </message>
        <message>
            <source>{0} would be written over {1}, which is read.</source>
            <translation>{0} würde {1} überschreiben, und diese Datei wird gelesen.</translation>
        </message>
        <message>
            <source>{0} {1} of {2} chosen steps were judged, and none of them differs from what the trainer signed. Nothing more was concluded about the training.</source>
            <translation>{0} {1} von {2} ausgewählten Schritten wurden beurteilt, und keiner davon weicht von dem ab, was der Trainer unterschrieben hat. Mehr wurde über das Training nicht gefolgert.</translation>
        </message>
        <message>
            <source>{0}, from step {1} on. They bind the trainer since somebody else had them; since when, this audit does not know.</source>
            <translation>{0}, ab Schritt {1}. Sie binden den Trainer, seit jemand anderes sie hatte; seit wann, weiß diese Prüfung nicht.</translation>
        </message>
        <message>
            <source>{0}, margin 2^(E-{1})</source>
            <translation>{0}, Toleranz 2^(E-{1})</translation>
        </message>
        <message>
            <source>{0}, margin 2^(E-{1}), {2} operator kinds calibrated</source>
            <translation>{0}, Toleranz 2^(E-{1}), {2} Operatorarten kalibriert</translation>
        </message>
        <message>
            <source>{0}, proven margins</source>
            <translation>{0}, bewiesene Toleranzen</translation>
        </message>
        <message>
            <source>{0}, {1} bits</source>
            <translation>{0}, {1} Bit</translation>
        </message>
        <message>
            <source>{0}: cannot be written to</source>
            <translation>{0}: kann nicht beschrieben werden</translation>
        </message>
        <message>
            <source>{0}: no address is found by this name ({1})</source>
            <translation>{0}: zu diesem Namen findet sich keine Adresse ({1})</translation>
        </message>
        <message>
            <source>{0}: what an auditor found</source>
            <translation>{0}: was ein Prüfer gefunden hat</translation>
        </message>
        <message>
            <source>{0}: {1:.2f} GiB of room</source>
            <translation>{0}: {1:.2f} GiB Platz</translation>
        </message>
        <message>
            <source>{0}: {1} of {2} modules are compiled</source>
            <translation>{0}: {1} von {2} Modulen sind übersetzt</translation>
        </message>
        <message>
            <source>{0}; threads of an operator: {1}</source>
            <translation>{0}; Threads eines Operators: {1}</translation>
        </message>
    </context>
    <context>
        <name>growing</name>
        <message>
            <source>Loss</source>
            <translation>Verlust</translation>
        </message>
        <message>
            <source>Loss of the recording and of the replay, by step</source>
            <translation>Verlust der Aufzeichnung und der Nachrechnung je Schritt</translation>
        </message>
        <message>
            <source>replay</source>
            <translation>Nachrechnung</translation>
        </message>
        <message>
            <source>trainer</source>
            <translation>vom Trainer</translation>
        </message>
    </context>
    <context>
        <name>job_words</name>
        <message>
            <source>&amp;Calibrate an order…</source>
            <translation>Auftrag &amp;kalibrieren…</translation>
        </message>
        <message>
            <source>&amp;Export for others…</source>
            <translation>&amp;Exportieren für andere…</translation>
        </message>
        <message>
            <source>&amp;Note on data…</source>
            <translation>Vermerk zu &amp;Daten…</translation>
        </message>
        <message>
            <source>&amp;Reply to a verdict…</source>
            <translation>Auf Urteil &amp;erwidern…</translation>
        </message>
        <message>
            <source>&amp;Sign an order…</source>
            <translation>&amp;Auftrag unterschreiben…</translation>
        </message>
        <message>
            <source>&amp;Withdraw a verdict…</source>
            <translation>Urteil &amp;widerrufen…</translation>
        </message>
        <message>
            <source>A verdict, as SLSA VSA</source>
            <translation>Ein Urteil, als SLSA VSA</translation>
        </message>
        <message>
            <source>A verdict, as in-toto SVR</source>
            <translation>Ein Urteil, als in-toto SVR</translation>
        </message>
        <message>
            <source>A verdict, for a model card</source>
            <translation>Ein Urteil, für eine Modellkarte</translation>
        </message>
        <message>
            <source>Answer</source>
            <translation>Antwort</translation>
        </message>
        <message>
            <source>Auditor's public key</source>
            <translation>Öffentlicher Schlüssel des Prüfers</translation>
        </message>
        <message>
            <source>Auditors' public keys</source>
            <translation>Öffentliche Schlüssel der Prüfer</translation>
        </message>
        <message>
            <source>Check a w&amp;itness…</source>
            <translation>Zeu&amp;gen prüfen…</translation>
        </message>
        <message>
            <source>Check an ans&amp;wer…</source>
            <translation>Ant&amp;wort prüfen…</translation>
        </message>
        <message>
            <source>Curves, as a table</source>
            <translation>Kurven, als Tabelle</translation>
        </message>
        <message>
            <source>Curves, for TensorBoard</source>
            <translation>Kurven, für TensorBoard</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>Gerät</translation>
        </message>
        <message>
            <source>Folder of the model</source>
            <translation>Ordner des Modells</translation>
        </message>
        <message>
            <source>From when on</source>
            <translation>Ab wann</translation>
        </message>
        <message>
            <source>How they were made</source>
            <translation>Wie sie entstanden</translation>
        </message>
        <message>
            <source>Into the folder</source>
            <translation>In den Ordner</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>Schlüssel</translation>
        </message>
        <message>
            <source>Keys that no longer count</source>
            <translation>Schlüssel, die nicht mehr zählen</translation>
        </message>
        <message>
            <source>Log of the witness</source>
            <translation>Protokoll des Zeugen</translation>
        </message>
        <message>
            <source>Merge pa&amp;rts of a replay…</source>
            <translation>&amp;Teile zusammenführen…</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>Auftrag</translation>
        </message>
        <message>
            <source>Parts</source>
            <translation>Teile</translation>
        </message>
        <message>
            <source>Question</source>
            <translation>Frage</translation>
        </message>
        <message>
            <source>Re&amp;voke keys…</source>
            <translation>&amp;Schlüssel widerrufen…</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>Lauf</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>Läufe</translation>
        </message>
        <message>
            <source>Segments replayed here too</source>
            <translation>Auch hier nachgerechnete Segmente</translation>
        </message>
        <message>
            <source>Somebody else may have them</source>
            <translation>Jemand anderes könnte sie haben</translation>
        </message>
        <message>
            <source>Statement</source>
            <translation>Aussage</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>Schritt</translation>
        </message>
        <message>
            <source>Steps to measure</source>
            <translation>Gemessene Schritte</translation>
        </message>
        <message>
            <source>The average of the weights</source>
            <translation>Der Mittelwert der Gewichte</translation>
        </message>
        <message>
            <source>The list so far</source>
            <translation>Die bisherige Liste</translation>
        </message>
        <message>
            <source>Trainer's public key</source>
            <translation>Öffentlicher Schlüssel des Trainers</translation>
        </message>
        <message>
            <source>Verdict</source>
            <translation>Urteil</translation>
        </message>
        <message>
            <source>Verdict in its place</source>
            <translation>Urteil an seiner Stelle</translation>
        </message>
        <message>
            <source>Verify a statement…</source>
            <translation>Aussage prüfen…</translation>
        </message>
        <message>
            <source>Weights (safetensors)</source>
            <translation>Gewichte (safetensors)</translation>
        </message>
        <message>
            <source>Weights that made them</source>
            <translation>Gewichte, die sie machten</translation>
        </message>
        <message>
            <source>What it is about</source>
            <translation>Wovon sie handelt</translation>
        </message>
        <message>
            <source>What you say</source>
            <translation>Was Sie sagen</translation>
        </message>
        <message>
            <source>Why</source>
            <translation>Warum</translation>
        </message>
        <message>
            <source>Written to</source>
            <translation>Geschrieben nach</translation>
        </message>
    </context>
    <context>
        <name>later</name>
        <message>
            <source>In its place</source>
            <translation>An seiner Stelle</translation>
        </message>
        <message>
            <source>Reply of the trainer who signed the run, on {0} by the trainer's clock:</source>
            <translation>Erwiderung des Trainers, der den Lauf unterschrieben hat, am {0} nach der Uhr des Trainers:</translation>
        </message>
        <message>
            <source>SHA-256 of what is signed in the other verdict</source>
            <translation>SHA-256 dessen, was im anderen Urteil unterschrieben ist</translation>
        </message>
        <message>
            <source>The auditor took this verdict back on {0}, by the auditor's clock. The auditor's reason:</source>
            <translation>Der Prüfer hat dieses Urteil am {0} nach seiner Uhr zurückgenommen. Sein Grund:</translation>
        </message>
    </context>
    <context>
        <name>limits</name>
        <message>
            <source>It accuses nobody, and accepts nothing: treat the run as not verified.</source>
            <translation>Es beschuldigt niemanden und nimmt nichts an: Behandeln Sie den Lauf als nicht bestätigt.</translation>
        </message>
        <message>
            <source>It does not say that the model is good or harmless, whose the data are, or what else was trained.</source>
            <translation>Es sagt nicht, dass das Modell gut oder harmlos ist, wessen Daten es sind oder was sonst trainiert wurde.</translation>
        </message>
        <message>
            <source>It does not say why: fraud, a defect and a broken machine look alike.</source>
            <translation>Es sagt nicht, warum: Betrug, ein Fehler und eine defekte Maschine sehen gleich aus.</translation>
        </message>
        <message>
            <source>It says nothing of the segments that were not replayed, nor that the model is good or harmless.</source>
            <translation>Über nicht nachgerechnete Abschnitte sagt es nichts, auch nicht, dass das Modell gut oder harmlos ist.</translation>
        </message>
        <message>
            <source>It says nothing of the training.</source>
            <translation>Über das Training sagt es nichts.</translation>
        </message>
    </context>
    <context>
        <name>lookup</name>
        <message>
            <source>a file that the order names as its source: {0}</source>
            <translation>eine Datei, die der Auftrag als Quelle nennt: {0}</translation>
        </message>
        <message>
            <source>adjudicated: CONFIRMED</source>
            <translation>entschieden: CONFIRMED</translation>
        </message>
        <message>
            <source>adjudicated: REJECTED</source>
            <translation>entschieden: REJECTED</translation>
        </message>
        <message>
            <source>chunk {0} of the tensor {1}</source>
            <translation>Block {0} des Tensors {1}</translation>
        </message>
        <message>
            <source>clean</source>
            <translation>sauber</translation>
        </message>
        <message>
            <source>disputed</source>
            <translation>strittig</translation>
        </message>
        <message>
            <source>missing in the file: {0}</source>
            <translation>in der Datei fehlend: {0}</translation>
        </message>
        <message>
            <source>the data array {0}</source>
            <translation>das Datenfeld {0}</translation>
        </message>
        <message>
            <source>the order</source>
            <translation>der Auftrag</translation>
        </message>
        <message>
            <source>the run root</source>
            <translation>die Laufwurzel</translation>
        </message>
        <message>
            <source>the tensor {0}</source>
            <translation>der Tensor {0}</translation>
        </message>
        <message>
            <source>the whole state</source>
            <translation>der ganze Zustand</translation>
        </message>
        <message>
            <source>undecided</source>
            <translation>unentschieden</translation>
        </message>
        <message>
            <source>{0} (answered)</source>
            <translation>{0} (erwidert)</translation>
        </message>
        <message>
            <source>{0} of {1} steps</source>
            <translation>{0} von {1} Schritten</translation>
        </message>
        <message>
            <source>{0} of {1} tensors are the same</source>
            <translation>{0} von {1} Tensoren sind gleich</translation>
        </message>
    </context>
    <context>
        <name>matter</name>
        <message>
            <source>Adjudication</source>
            <translation>Entscheidung</translation>
        </message>
        <message>
            <source>Bundle</source>
            <translation>Bündel</translation>
        </message>
        <message>
            <source>Capsule</source>
            <translation>Kapsel</translation>
        </message>
        <message>
            <source>Client's key</source>
            <translation>Schlüssel des Auftraggebers</translation>
        </message>
        <message>
            <source>Client's signature</source>
            <translation>Unterschrift des Auftraggebers</translation>
        </message>
        <message>
            <source>Disputed</source>
            <translation>Strittig</translation>
        </message>
        <message>
            <source>Disputed step</source>
            <translation>Strittiger Schritt</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>Auftrag</translation>
        </message>
        <message>
            <source>Order digest</source>
            <translation>Digest des Auftrags</translation>
        </message>
        <message>
            <source>Outcome</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>Reason</source>
            <translation>Begründung</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>SHA-256</source>
            <translation>SHA-256</translation>
        </message>
        <message>
            <source>Sample</source>
            <translation>Stichprobe</translation>
        </message>
        <message>
            <source>Sign the adjudication</source>
            <translation>Die Entscheidung unterschreiben</translation>
        </message>
        <message>
            <source>Sign the verdict</source>
            <translation>Urteil unterschreiben</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>Zeit</translation>
        </message>
        <message>
            <source>Trainer's acceptance</source>
            <translation>Annahme durch den Trainer</translation>
        </message>
        <message>
            <source>Trainer's key</source>
            <translation>Schlüssel des Trainers</translation>
        </message>
        <message>
            <source>Verdict</source>
            <translation>Urteil</translation>
        </message>
        <message>
            <source>You sign that you replayed the disputed step in {0} and found: {1}. {2}</source>
            <translation>Sie unterschreiben, dass Sie den strittigen Schritt in {0} nachgerechnet und gefunden haben: {1}. {2}</translation>
        </message>
        <message>
            <source>You sign that you replayed {0} and found: {1}. {2}</source>
            <translation>Sie unterschreiben, dass Sie {0} nachgerechnet haben, mit dem Ergebnis: {1}. {2}</translation>
        </message>
        <message>
            <source>could not be read</source>
            <translation>konnte nicht gelesen werden</translation>
        </message>
    </context>
    <context>
        <name>order_words</name>
        <message>
            <source>A GPT-2 of any size on the text of a file, from random or from public weights.</source>
            <translation>Ein GPT-2 beliebiger Größe auf dem Text einer Datei, aus zufälligen oder veröffentlichten Gewichten.</translation>
        </message>
        <message>
            <source>A Hugging Face model out of a local folder, on texts, prompts or labels of yours.</source>
            <translation>Ein Modell von Hugging Face aus einem Ordner, auf Texten, Prompts oder Klassen von Ihnen.</translation>
        </message>
        <message>
            <source>A function of yours that returns a counterfoil.CustomJob or a counterfoil.Evaluation.</source>
            <translation>Eine Funktion von Ihnen, die einen counterfoil.CustomJob oder eine counterfoil.Evaluation liefert.</translation>
        </message>
        <message>
            <source>A small residual network on handwritten digits that come with Counterfoil: a first try.</source>
            <translation>Ein kleines residuales Netz auf handgeschriebenen Ziffern, die zu Counterfoil gehören: ein erster Versuch.</translation>
        </message>
        <message>
            <source>Activation checkpointing</source>
            <translation>Aktivierungen neu berechnen</translation>
        </message>
        <message>
            <source>Answers for the script</source>
            <translation>Antworten für das Skript</translation>
        </message>
        <message>
            <source>Arguments of the script</source>
            <translation>Argumente des Skripts</translation>
        </message>
        <message>
            <source>Attention heads</source>
            <translation>Attention-Köpfe</translation>
        </message>
        <message>
            <source>Buffers of shares</source>
            <translation>Puffer der Anteile</translation>
        </message>
        <message>
            <source>Capturing the step</source>
            <translation>Der Schritt wird erfasst</translation>
        </message>
        <message>
            <source>Choosing what is computed again</source>
            <translation>Es wird gewählt, was neu berechnet wird</translation>
        </message>
        <message>
            <source>Code</source>
            <translation>Code</translation>
        </message>
        <message>
            <source>Columns of the made-up table</source>
            <translation>Spalten der erfundenen Tabelle</translation>
        </message>
        <message>
            <source>Compared steps</source>
            <translation>Verglichene Schritte</translation>
        </message>
        <message>
            <source>Comparing the order with the script</source>
            <translation>Der Auftrag wird mit dem Skript verglichen</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>Kontext</translation>
        </message>
        <message>
            <source>Course of the rate</source>
            <translation>Verlauf der Rate</translation>
        </message>
        <message>
            <source>Data</source>
            <translation>Daten</translation>
        </message>
        <message>
            <source>Dropout</source>
            <translation>Dropout</translation>
        </message>
        <message>
            <source>Epochs</source>
            <translation>Epochen</translation>
        </message>
        <message>
            <source>Faulty shares</source>
            <translation>Fehlerhafte Anteile</translation>
        </message>
        <message>
            <source>First step</source>
            <translation>Erster Schritt</translation>
        </message>
        <message>
            <source>Following the script</source>
            <translation>Dem Skript wird gefolgt</translation>
        </message>
        <message>
            <source>Function</source>
            <translation>Funktion</translation>
        </message>
        <message>
            <source>Handwritten digits</source>
            <translation>Handgeschriebene Ziffern</translation>
        </message>
        <message>
            <source>Images: VGG-11</source>
            <translation>Bilder: VGG-11</translation>
        </message>
        <message>
            <source>Images: residual network</source>
            <translation>Bilder: residuales Netz</translation>
        </message>
        <message>
            <source>Initial weights</source>
            <translation>Anfangsgewichte</translation>
        </message>
        <message>
            <source>It runs in the folder</source>
            <translation>Läuft im Ordner</translation>
        </message>
        <message>
            <source>Join texts to full rows</source>
            <translation>Texte zu vollen Zeilen verbinden</translation>
        </message>
        <message>
            <source>Largest gradient norm</source>
            <translation>Größte Norm der Gradienten</translation>
        </message>
        <message>
            <source>Last checkpoint</source>
            <translation>Letzter Zustand</translation>
        </message>
        <message>
            <source>Layers</source>
            <translation>Schichten</translation>
        </message>
        <message>
            <source>Layout</source>
            <translation>Aufbau</translation>
        </message>
        <message>
            <source>Leaf for each row</source>
            <translation>Blatt für jede Zeile</translation>
        </message>
        <message>
            <source>Learning rate</source>
            <translation>Lernrate</translation>
        </message>
        <message>
            <source>Least fall of the loss</source>
            <translation>Mindestfall des Verlusts</translation>
        </message>
        <message>
            <source>Length of a sequence</source>
            <translation>Länge einer Folge</translation>
        </message>
        <message>
            <source>Logistic regression on a table of yours, or on one that is made up.</source>
            <translation>Logistische Regression auf einer Tabelle von Ihnen, oder auf einer erfundenen.</translation>
        </message>
        <message>
            <source>Low-rank adapters</source>
            <translation>Adapter niedrigen Rangs</translation>
        </message>
        <message>
            <source>Margins</source>
            <translation>Toleranzen</translation>
        </message>
        <message>
            <source>Mirror images at random</source>
            <translation>Bilder zufällig spiegeln</translation>
        </message>
        <message>
            <source>Model folder</source>
            <translation>Modellordner</translation>
        </message>
        <message>
            <source>Model folder: fine-tuning</source>
            <translation>Modellordner: Fine-Tuning</translation>
        </message>
        <message>
            <source>Model folder: what it scores</source>
            <translation>Modellordner: was es leistet</translation>
        </message>
        <message>
            <source>Momentum of a share</source>
            <translation>Momentum eines Anteils</translation>
        </message>
        <message>
            <source>Most steps</source>
            <translation>Höchstens Schritte</translation>
        </message>
        <message>
            <source>Most tokens of a row</source>
            <translation>Höchstens Tokens je Zeile</translation>
        </message>
        <message>
            <source>My evaluation script</source>
            <translation>Mein Auswertungsskript</translation>
        </message>
        <message>
            <source>My own module</source>
            <translation>Mein eigenes Modul</translation>
        </message>
        <message>
            <source>My training script</source>
            <translation>Mein Trainingsskript</translation>
        </message>
        <message>
            <source>Names of columns</source>
            <translation>Namen der Spalten</translation>
        </message>
        <message>
            <source>Names of counts</source>
            <translation>Namen der Zähler</translation>
        </message>
        <message>
            <source>Network</source>
            <translation>Netz</translation>
        </message>
        <message>
            <source>Network the first time</source>
            <translation>Netz beim ersten Mal</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>Auftrag</translation>
        </message>
        <message>
            <source>Parts of a batch</source>
            <translation>Teile eines Batchs</translation>
        </message>
        <message>
            <source>Precision profile</source>
            <translation>Genauigkeitsprofil</translation>
        </message>
        <message>
            <source>Public size</source>
            <translation>Veröffentlichte Größe</translation>
        </message>
        <message>
            <source>Random shift, pixels</source>
            <translation>Zufällige Verschiebung, Pixel</translation>
        </message>
        <message>
            <source>ResNet-18, 34 or 50 on CIFAR-10, MNIST or Fashion-MNIST, from a folder on this machine.</source>
            <translation>ResNet-18, 34 oder 50 auf CIFAR-10, MNIST oder Fashion-MNIST, aus einem Ordner auf diesem Rechner.</translation>
        </message>
        <message>
            <source>Rows</source>
            <translation>Zeilen</translation>
        </message>
        <message>
            <source>Rows per step</source>
            <translation>Zeilen je Schritt</translation>
        </message>
        <message>
            <source>Rule of aggregation</source>
            <translation>Aggregationsregel</translation>
        </message>
        <message>
            <source>Run the code a second time to compare</source>
            <translation>Den Code zum Vergleich ein zweites Mal ausführen</translation>
        </message>
        <message>
            <source>Running the script as it is</source>
            <translation>Das Skript läuft, wie es ist</translation>
        </message>
        <message>
            <source>Script</source>
            <translation>Skript</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>Startwert</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>Einstellungen</translation>
        </message>
        <message>
            <source>Shares of a step</source>
            <translation>Anteile eines Schritts</translation>
        </message>
        <message>
            <source>Starting…</source>
            <translation>Es beginnt…</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>Schritte</translation>
        </message>
        <message>
            <source>Steps per checkpoint</source>
            <translation>Schritte je Zustand</translation>
        </message>
        <message>
            <source>Steps per digest</source>
            <translation>Schritte je Digest</translation>
        </message>
        <message>
            <source>Stop early after</source>
            <translation>Früh beenden nach</translation>
        </message>
        <message>
            <source>Table: logistic regression</source>
            <translation>Tabelle: logistische Regression</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>Aufgabe</translation>
        </message>
        <message>
            <source>Text file</source>
            <translation>Textdatei</translation>
        </message>
        <message>
            <source>Text: GPT-2</source>
            <translation>Text: GPT-2</translation>
        </message>
        <message>
            <source>Tokenizer</source>
            <translation>Tokenizer</translation>
        </message>
        <message>
            <source>Try the first step</source>
            <translation>Den ersten Schritt ausprobieren</translation>
        </message>
        <message>
            <source>VGG-11 on CIFAR-10, or on other images of at least 32 by 32 pixels.</source>
            <translation>VGG-11 auf CIFAR-10, oder auf anderen Bildern mit mindestens 32 mal 32 Pixeln.</translation>
        </message>
        <message>
            <source>Warm-up steps</source>
            <translation>Schritte zum Aufwärmen</translation>
        </message>
        <message>
            <source>Weight decay</source>
            <translation>Weight Decay</translation>
        </message>
        <message>
            <source>What a Python script of yours counts, with no changed line. Nothing is trained.</source>
            <translation>Was ein eigenes Python-Skript zählt, ohne eine geänderte Zeile. Nichts wird trainiert.</translation>
        </message>
        <message>
            <source>What a Python script of yours trains, with no changed line.</source>
            <translation>Was ein Python-Skript von Ihnen trainiert, ohne eine geänderte Zeile.</translation>
        </message>
        <message>
            <source>What is trained</source>
            <translation>Was trainiert wird</translation>
        </message>
        <message>
            <source>What such a model, or the weights of a run, get right on data of yours. Nothing is trained.</source>
            <translation>Was ein solches Modell, oder die Gewichte eines Laufs, auf Ihren Daten richtig beantwortet. Nichts wird trainiert.</translation>
        </message>
        <message>
            <source>Width</source>
            <translation>Breite</translation>
        </message>
        <message>
            <source>{0}: {1} of {2}</source>
            <translation>{0}: {1} von {2}</translation>
        </message>
        <message>
            <source>{0}: {1} of {2}, about {3} left</source>
            <translation>{0}: {1} von {2}, noch etwa {3}</translation>
        </message>
        <message>
            <source>{0}: {1} so far</source>
            <translation>{0}: bisher {1}</translation>
        </message>
    </context>
    <context>
        <name>passphrases</name>
        <message>
            <source>Not available: the package 'keyring' is not installed.</source>
            <translation>Nicht verfügbar: Das Paket 'keyring' ist nicht installiert.</translation>
        </message>
        <message>
            <source>Not available: this system has no key ring.</source>
            <translation>Nicht verfügbar: Dieses System hat keinen Schlüsselbund.</translation>
        </message>
        <message>
            <source>The verdict is signed, but the key ring of the system did not take the passphrase.</source>
            <translation>Das Urteil ist unterschrieben, aber der Schlüsselbund des Systems hat das Passwort nicht angenommen.</translation>
        </message>
        <message>
            <source>Unlock the key ring, or leave the box for remembering empty.</source>
            <translation>Entsperren Sie den Schlüsselbund, oder lassen Sie das Kästchen zum Merken leer.</translation>
        </message>
    </context>
    <context>
        <name>plots</name>
        <message>
            <source>Copy the plot</source>
            <translation>Diagramm kopieren</translation>
        </message>
        <message>
            <source>Drawing (*.svg)</source>
            <translation>Zeichnung (*.svg)</translation>
        </message>
        <message>
            <source>Export the plot</source>
            <translation>Diagramm exportieren</translation>
        </message>
        <message>
            <source>Export the plot…</source>
            <translation>Diagramm exportieren…</translation>
        </message>
        <message>
            <source>Numbers (*.csv)</source>
            <translation>Zahlen (*.csv)</translation>
        </message>
        <message>
            <source>Picture (*.png)</source>
            <translation>Bild (*.png)</translation>
        </message>
    </context>
    <context>
        <name>providers</name>
        <message>
            <source>AGREED: all runs have the same results</source>
            <translation>AGREED: alle Läufe haben dieselben Ergebnisse</translation>
        </message>
        <message>
            <source>EXPOSED: a run is not what was ordered</source>
            <translation>EXPOSED: ein Lauf ist nicht, was beauftragt war</translation>
        </message>
        <message>
            <source>REFUSED: a run took no part</source>
            <translation>REFUSED: ein Lauf nahm nicht teil</translation>
        </message>
        <message>
            <source>UNDECIDED: nobody is accused</source>
            <translation>UNDECIDED: niemand wird beschuldigt</translation>
        </message>
        <message>
            <source>as ordered</source>
            <translation>wie beauftragt</translation>
        </message>
        <message>
            <source>cannot be decided here</source>
            <translation>hier nicht zu entscheiden</translation>
        </message>
        <message>
            <source>not read yet</source>
            <translation>noch nicht gelesen</translation>
        </message>
        <message>
            <source>not replayed</source>
            <translation>nicht nachgerechnet</translation>
        </message>
        <message>
            <source>not what was ordered</source>
            <translation>nicht, was beauftragt war</translation>
        </message>
        <message>
            <source>right where they part</source>
            <translation>im Recht, wo sie auseinandergehen</translation>
        </message>
        <message>
            <source>took no part</source>
            <translation>nahm nicht teil</translation>
        </message>
    </context>
    <context>
        <name>report</name>
        <message>
            <source> The dashed line is the disputed step.</source>
            <translation> Die gestrichelte Linie ist der strittige Schritt.</translation>
        </message>
        <message>
            <source>, as a part file says</source>
            <translation>, wie eine Teildatei sagt</translation>
        </message>
        <message>
            <source>, revision {0}</source>
            <translation>, Revision {0}</translation>
        </message>
        <message>
            <source>64 digits that name a content: another content has others</source>
            <translation>64 Ziffern, die einen Inhalt benennen: Ein anderer Inhalt hat andere</translation>
        </message>
        <message>
            <source>A dispute capsule holds one step of a run, the state before it, and the proofs that both belong to what the trainer signed and the client ordered.</source>
            <translation>Eine Streitfallkapsel enthält einen Schritt eines Laufs, den Zustand davor und die Beweise, dass beide zu dem gehören, was der Trainer unterschrieben und der Auftraggeber bestellt hat.</translation>
        </message>
        <message>
            <source>A step that came out different was carried out once more with every sum in another order, and what differs first in it was held against its definition, or computed exactly: the trainer is accused only of what no sound machine gives.</source>
            <translation>Ein Schritt, der anders ausfiel, wurde noch einmal ausgeführt, jede Summe in anderer Reihenfolge, und was in ihm als Erstes abweicht, wurde an seiner Definition gemessen oder exakt berechnet: Dem Trainer wird nur vorgeworfen, was keine einwandfreie Maschine ergibt.</translation>
        </message>
        <message>
            <source>Adjudication report</source>
            <translation>Schiedsbericht</translation>
        </message>
        <message>
            <source>An auditor disputes a step of this run: who is right?</source>
            <translation>Ein Prüfer bestreitet einen Schritt dieses Laufs: Wer hat recht?</translation>
        </message>
        <message>
            <source>Audit report</source>
            <translation>Prüfbericht</translation>
        </message>
        <message>
            <source>Auditor</source>
            <translation>Prüfer</translation>
        </message>
        <message>
            <source>Auditor's key</source>
            <translation>Schlüssel des Prüfers</translation>
        </message>
        <message>
            <source>Case number</source>
            <translation>Aktenzeichen</translation>
        </message>
        <message>
            <source>Checks</source>
            <translation>Prüfungen</translation>
        </message>
        <message>
            <source>Client</source>
            <translation>Auftraggeber</translation>
        </message>
        <message>
            <source>Client's signature</source>
            <translation>Unterschrift des Auftraggebers</translation>
        </message>
        <message>
            <source>Corrections</source>
            <translation>Korrekturen</translation>
        </message>
        <message>
            <source>Corrections: logged roundings in which this machine took the trainer's direction.</source>
            <translation>Korrekturen: protokollierte Rundungen, bei denen dieser Rechner die Richtung des Trainers übernommen hat.</translation>
        </message>
        <message>
            <source>Counterfoil itself failed. Nothing follows for or against the trainer.</source>
            <translation>Counterfoil selbst ist gescheitert. Daraus folgt nichts für oder gegen den Trainer.</translation>
        </message>
        <message>
            <source>Dispute</source>
            <translation>Streitfall</translation>
        </message>
        <message>
            <source>Disputed</source>
            <translation>Strittig</translation>
        </message>
        <message>
            <source>Disputed step</source>
            <translation>Strittiger Schritt</translation>
        </message>
        <message>
            <source>Every ordered step was carried out again {0} and gave the trainer's own result, bit for bit. The model that the trainer delivers in this run is the model that the order leads to.</source>
            <translation>Jeder bestellte Schritt wurde {0} noch einmal ausgeführt und ergab das Ergebnis des Trainers, Bit für Bit. Das Modell, das der Trainer in diesem Lauf liefert, ist das Modell, zu dem der Auftrag führt.</translation>
        </message>
        <message>
            <source>Every step that was replayed gave the trainer's own result, bit for bit. The other steps were not looked at. {0}</source>
            <translation>Jeder nachgerechnete Schritt ergab Bit für Bit das Ergebnis des Trainers. Die anderen Schritte wurden nicht betrachtet. {0}</translation>
        </message>
        <message>
            <source>Everything in it was first checked against the order and the trainer's signature, and then this machine with known answers. Nothing was taken on the word of whoever wrote the capsule.</source>
            <translation>Alles darin wurde zuerst mit dem Auftrag und der Unterschrift des Trainers verglichen, dann dieser Rechner mit bekannten Antworten. Nichts wurde dem geglaubt, der die Kapsel geschrieben hat.</translation>
        </message>
        <message>
            <source>File of the capsule</source>
            <translation>Datei der Kapsel</translation>
        </message>
        <message>
            <source>File of the order</source>
            <translation>Datei des Auftrags</translation>
        </message>
        <message>
            <source>File of the run</source>
            <translation>Datei des Laufs</translation>
        </message>
        <message>
            <source>Finding</source>
            <translation>Befund</translation>
        </message>
        <message>
            <source>Fingerprint</source>
            <translation>Fingerabdruck</translation>
        </message>
        <message>
            <source>First different operator</source>
            <translation>Erster abweichender Operator</translation>
        </message>
        <message>
            <source>Found by</source>
            <translation>Gefunden durch</translation>
        </message>
        <message>
            <source>Glossary</source>
            <translation>Begriffe</translation>
        </message>
        <message>
            <source>How to verify this report</source>
            <translation>Wie man diesen Bericht prüft</translation>
        </message>
        <message>
            <source>Is the training that was ordered the training that happened?</source>
            <translation>Ist das Training, das bestellt war, das Training, das stattfand?</translation>
        </message>
        <message>
            <source>Job</source>
            <translation>Aufgabe</translation>
        </message>
        <message>
            <source>Leaf</source>
            <translation>Blatt</translation>
        </message>
        <message>
            <source>Loss of each replayed step: the line is the trainer's, the dots are the replay's.</source>
            <translation>Verlust jedes nachgerechneten Schritts: Die Linie gehört zum Trainer, die Punkte gehören zur Nachrechnung.</translation>
        </message>
        <message>
            <source>Made from</source>
            <translation>Hergestellt aus</translation>
        </message>
        <message>
            <source>Merkle path</source>
            <translation>Merkle-Pfad</translation>
        </message>
        <message>
            <source>Method</source>
            <translation>Verfahren</translation>
        </message>
        <message>
            <source>Nothing follows for or against the trainer, nor for or against whoever wrote the capsule.</source>
            <translation>Es folgt nichts für oder gegen den Trainer, und nichts für oder gegen den, der die Kapsel geschrieben hat.</translation>
        </message>
        <message>
            <source>On paper, for who needs that; what can be checked is the digital signature above.</source>
            <translation>Auf Papier, für wen das nötig ist; prüfen lässt sich die digitale Unterschrift oben.</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>Auftrag</translation>
        </message>
        <message>
            <source>Order digest</source>
            <translation>Digest des Auftrags</translation>
        </message>
        <message>
            <source>Page {0} of {1}</source>
            <translation>Seite {0} von {1}</translation>
        </message>
        <message>
            <source>Part of the step</source>
            <translation>Teil des Schritts</translation>
        </message>
        <message>
            <source>Place and date</source>
            <translation>Ort und Datum</translation>
        </message>
        <message>
            <source>Precision</source>
            <translation>Genauigkeit</translation>
        </message>
        <message>
            <source>Recipe</source>
            <translation>Rezept</translation>
        </message>
        <message>
            <source>Replay begun</source>
            <translation>Nachrechnung begonnen</translation>
        </message>
        <message>
            <source>Replay ended</source>
            <translation>Nachrechnung beendet</translation>
        </message>
        <message>
            <source>Replay's leaf</source>
            <translation>Blatt der Nachrechnung</translation>
        </message>
        <message>
            <source>Replay's loss</source>
            <translation>Verlust der Nachrechnung</translation>
        </message>
        <message>
            <source>Rounding log</source>
            <translation>Rundungsprotokoll</translation>
        </message>
        <message>
            <source>Run root</source>
            <translation>Laufwurzel</translation>
        </message>
        <message>
            <source>Run, bundle</source>
            <translation>Lauf, Bündel</translation>
        </message>
        <message>
            <source>SHA-256, hash, digest</source>
            <translation>SHA-256, Hash, Digest</translation>
        </message>
        <message>
            <source>Script</source>
            <translation>Skript</translation>
        </message>
        <message>
            <source>Signature</source>
            <translation>Unterschrift</translation>
        </message>
        <message>
            <source>Signature, {0}</source>
            <translation>Unterschrift, {0}</translation>
        </message>
        <message>
            <source>Signed at</source>
            <translation>Unterschrieben am</translation>
        </message>
        <message>
            <source>Signed by the party</source>
            <translation>Unterschrieben von der Partei</translation>
        </message>
        <message>
            <source>Signed verdict</source>
            <translation>Unterschriebenes Urteil</translation>
        </message>
        <message>
            <source>State</source>
            <translation>Zustand</translation>
        </message>
        <message>
            <source>State tensors that differ at step {0}, largest difference first</source>
            <translation>Abweichende Zustandstensoren bei Schritt {0}, der größte Unterschied zuerst</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>Schritt</translation>
        </message>
        <message>
            <source>Steps replayed and judged</source>
            <translation>Schritte nachgerechnet und beurteilt</translation>
        </message>
        <message>
            <source>The auditor first checked the file against the order and the trainer's signature, and then this machine with known answers.</source>
            <translation>Der Prüfer verglich zuerst die Datei mit dem Auftrag und der Unterschrift des Trainers und prüfte dann diesen Rechner mit bekannten Antworten.</translation>
        </message>
        <message>
            <source>The auditor's machine</source>
            <translation>Der Rechner des Prüfers</translation>
        </message>
        <message>
            <source>The disputed step was carried out once more, by somebody who trusts neither side, and came out as the trainer signed it. About this step the accusation is wrong; of other steps nothing was looked at.</source>
            <translation>Der strittige Schritt wurde noch einmal ausgeführt, von jemandem, der keiner Seite traut, und kam so heraus, wie der Trainer ihn unterschrieben hat. Für diesen Schritt ist der Vorwurf falsch; andere Schritte wurden nicht angesehen.</translation>
        </message>
        <message>
            <source>The disputed step was carried out once more, by somebody who trusts neither side, and is not what was ordered. The trainer's signature binds it to what it signed.</source>
            <translation>Der strittige Schritt wurde noch einmal ausgeführt, von jemandem, der keiner Seite traut, und ist nicht der bestellte. Die Unterschrift des Trainers bindet ihn an das, was er unterschrieben hat.</translation>
        </message>
        <message>
            <source>The file is not an acceptable run of the order. Nothing was concluded about the training itself; ask the trainer for the run of this order.</source>
            <translation>Die Datei ist kein annehmbarer Lauf des Auftrags. Über das Training selbst wurde nichts geschlossen; bitten Sie den Trainer um den Lauf dieses Auftrags.</translation>
        </message>
        <message>
            <source>The order fixes the whole training: the model, the data and their sequence, the initial state, and every operation of a step with its rounding.</source>
            <translation>Der Auftrag legt das ganze Training fest: das Modell, die Daten und ihre Reihenfolge, den Anfangszustand und jede Operation eines Schritts mit ihrer Rundung.</translation>
        </message>
        <message>
            <source>The replay</source>
            <translation>Die Nachrechnung</translation>
        </message>
        <message>
            <source>The replay did not come to an end, or this machine's own arithmetic was too inexact. Nothing follows for or against the trainer.</source>
            <translation>Die Nachrechnung kam nicht zu einem Ende, oder die eigene Arithmetik dieses Rechners war zu ungenau. Daraus folgt nichts für oder gegen den Trainer.</translation>
        </message>
        <message>
            <source>The trainer carried the order out and signed one hash, the run root, to which every state, every loss and every rounding decision of the run is bound.</source>
            <translation>Der Trainer führte den Auftrag aus und unterschrieb einen Hash, die Laufwurzel, an den jeder Zustand, jeder Verlust und jede Rundungsentscheidung des Laufs gebunden ist.</translation>
        </message>
        <message>
            <source>The trainer's machine, as the trainer signed it</source>
            <translation>Der Rechner des Trainers, wie ihn der Trainer unterschrieben hat</translation>
        </message>
        <message>
            <source>Then each step of the capsule was carried out again, operation by operation, and its hash compared with the trainer's: equal hashes mean equal results, down to the last bit.</source>
            <translation>Dann wurde jeder Schritt der Kapsel noch einmal ausgeführt, Operation für Operation, und sein Hash mit dem des Trainers verglichen: Gleiche Hashes bedeuten gleiche Ergebnisse, bis zum letzten Bit.</translation>
        </message>
        <message>
            <source>Then the auditor carried the chosen steps out again, operation by operation, and compared each step's hash with the trainer's: equal hashes mean equal results, down to the last bit.</source>
            <translation>Dann führte der Prüfer die gewählten Schritte noch einmal aus, Operation für Operation, und verglich den Hash jedes Schritts mit dem des Trainers: Gleiche Hashes bedeuten gleiche Ergebnisse, bis zum letzten Bit.</translation>
        </message>
        <message>
            <source>This document is for reading. What counts is the signed verdict in the file named above: it can be checked by anybody who has the public key of the auditor.</source>
            <translation>Dieses Dokument ist zum Lesen. Was zählt, ist das unterschriebene Urteil in der oben genannten Datei: Prüfen kann es jeder, der den öffentlichen Schlüssel des Prüfers hat.</translation>
        </message>
        <message>
            <source>Time of the replay</source>
            <translation>Dauer der Nachrechnung</translation>
        </message>
        <message>
            <source>Trainer</source>
            <translation>Trainer</translation>
        </message>
        <message>
            <source>Trainer's acceptance</source>
            <translation>Annahme durch den Trainer</translation>
        </message>
        <message>
            <source>Trainer's key</source>
            <translation>Schlüssel des Trainers</translation>
        </message>
        <message>
            <source>Trainer's leaf</source>
            <translation>Blatt des Trainers</translation>
        </message>
        <message>
            <source>Trainer's loss</source>
            <translation>Verlust des Trainers</translation>
        </message>
        <message>
            <source>Verdict</source>
            <translation>Urteil</translation>
        </message>
        <message>
            <source>What differs</source>
            <translation>Was abweicht</translation>
        </message>
        <message>
            <source>What the outcome means</source>
            <translation>Was das Ergebnis bedeutet</translation>
        </message>
        <message>
            <source>What the step read</source>
            <translation>Was der Schritt las</translation>
        </message>
        <message>
            <source>What was audited</source>
            <translation>Was geprüft wurde</translation>
        </message>
        <message>
            <source>Where the segments were replayed</source>
            <translation>Wo die Segmente nachgerechnet wurden</translation>
        </message>
        <message>
            <source>With Counterfoil: File, Open, or on the command line:</source>
            <translation>Mit Counterfoil: Datei, Öffnen, oder auf der Befehlszeile:</translation>
        </message>
        <message>
            <source>Without Counterfoil: the verdict is a DSSE envelope with an Ed25519 signature around an in-toto statement; OpenSSL 3 can check it, as the page on the verdict in Counterfoil's documentation shows.</source>
            <translation>Ohne Counterfoil: Das Urteil ist ein DSSE-Umschlag mit einer Ed25519-Unterschrift um ein in-toto-Statement; OpenSSL 3 kann sie prüfen, wie die Seite über das Urteil in der Dokumentation von Counterfoil zeigt.</translation>
        </message>
        <message>
            <source>You need the signed verdict, the bundle, and the auditor's public key from a source that you trust.</source>
            <translation>Sie brauchen das unterschriebene Urteil, das Bündel und den öffentlichen Schlüssel des Prüfers aus einer Quelle, der Sie vertrauen.</translation>
        </message>
        <message>
            <source>a short check value of what one operation of a step gave</source>
            <translation>ein kurzer Prüfwert dessen, was eine Operation eines Schritts ergab</translation>
        </message>
        <message>
            <source>all numbers of the model and its optimizer after a step</source>
            <translation>alle Zahlen des Modells und seines Optimierers nach einem Schritt</translation>
        </message>
        <message>
            <source>and {0} more</source>
            <translation>und {0} weitere</translation>
        </message>
        <message>
            <source>compared with the client's own order file</source>
            <translation>mit der eigenen Auftragsdatei des Auftraggebers verglichen</translation>
        </message>
        <message>
            <source>corrections</source>
            <translation>Korrekturen</translation>
        </message>
        <message>
            <source>could not be read</source>
            <translation>konnte nicht gelesen werden</translation>
        </message>
        <message>
            <source>element</source>
            <translation>Elementindex</translation>
        </message>
        <message>
            <source>elements</source>
            <translation>Elemente</translation>
        </message>
        <message>
            <source>error, in bounds</source>
            <translation>Fehler, in Schranken</translation>
        </message>
        <message>
            <source>exact value</source>
            <translation>exakter Wert</translation>
        </message>
        <message>
            <source>its SHA-256</source>
            <translation>deren SHA-256</translation>
        </message>
        <message>
            <source>largest difference</source>
            <translation>größter Unterschied</translation>
        </message>
        <message>
            <source>leaf {0}</source>
            <translation>Blatt {0}</translation>
        </message>
        <message>
            <source>loss</source>
            <translation>Verlust</translation>
        </message>
        <message>
            <source>not known</source>
            <translation>nicht bekannt</translation>
        </message>
        <message>
            <source>not named</source>
            <translation>nicht genannt</translation>
        </message>
        <message>
            <source>on a machine like it</source>
            <translation>auf einer gleichen Maschine</translation>
        </message>
        <message>
            <source>on another machine</source>
            <translation>auf einer anderen Maschine</translation>
        </message>
        <message>
            <source>one hash over the leaves of all steps, in a Merkle tree; the trainer signed it</source>
            <translation>ein Hash über die Blätter aller Schritte, in einem Merkle-Baum; der Trainer hat ihn unterschrieben</translation>
        </message>
        <message>
            <source>one small change of the model, made from one portion of the data</source>
            <translation>eine kleine Änderung des Modells, gewonnen aus einer Portion der Daten</translation>
        </message>
        <message>
            <source>replay</source>
            <translation>Nachrechnung</translation>
        </message>
        <message>
            <source>signed with a key that only the files themselves name</source>
            <translation>unterschrieben mit einem Schlüssel, den nur die Dateien selbst nennen</translation>
        </message>
        <message>
            <source>signed with the client's key, which was given</source>
            <translation>mit dem Schlüssel des Auftraggebers unterschrieben, der angegeben wurde</translation>
        </message>
        <message>
            <source>step</source>
            <translation>Schritt</translation>
        </message>
        <message>
            <source>taken from the bundle itself; not compared with the client's own file</source>
            <translation>aus dem Bündel selbst genommen; mit der eigenen Datei des Auftraggebers nicht verglichen</translation>
        </message>
        <message>
            <source>tensor</source>
            <translation>Tensor</translation>
        </message>
        <message>
            <source>the file in which the trainer hands over what the training gave</source>
            <translation>die Datei, in der der Trainer abgibt, was das Training ergab</translation>
        </message>
        <message>
            <source>the hash of all that a step gave</source>
            <translation>der Hash über alles, was ein Schritt ergab</translation>
        </message>
        <message>
            <source>the trainer's note of those roundings in which sound machines may differ</source>
            <translation>die Notiz des Trainers über jene Rundungen, in denen sich einwandfreie Rechner unterscheiden dürfen</translation>
        </message>
        <message>
            <source>trainer</source>
            <translation>vom Trainer</translation>
        </message>
        <message>
            <source>ulps</source>
            <translation>Ulps</translation>
        </message>
        <message>
            <source>what the auditor found, as a signed file; this report is made from it</source>
            <translation>was der Prüfer fand, als unterschriebene Datei; aus ihr ist dieser Bericht gemacht</translation>
        </message>
        <message>
            <source>what the client wants trained, as a file that leaves nothing open</source>
            <translation>was der Auftraggeber trainiert haben will, als Datei, die nichts offen lässt</translation>
        </message>
        <message>
            <source>{0} comparisons in the Merkle tree</source>
            <translation>{0} Vergleiche im Merkle-Baum</translation>
        </message>
        <message>
            <source>{0}, number {1} of {2}</source>
            <translation>{0}, Nummer {1} von {2}</translation>
        </message>
        <message>
            <source>{0}: {1}</source>
            <translation>{0}: {1}</translation>
        </message>
        <message>
            <source>{0}: {1} at step {2}, {3} at step {4}; between {5} and {6}.</source>
            <translation>{0}: {1} bei Schritt {2}, {3} bei Schritt {4}; zwischen {5} und {6}.</translation>
        </message>
    </context>
    <context>
        <name>steps</name>
        <message>
            <source>Contradictions</source>
            <translation>Widersprüche</translation>
        </message>
        <message>
            <source>Corrections</source>
            <translation>Korrekturen</translation>
        </message>
        <message>
            <source>Log bytes</source>
            <translation>Protokollbytes</translation>
        </message>
        <message>
            <source>Log entries</source>
            <translation>Protokolleinträge</translation>
        </message>
        <message>
            <source>Match</source>
            <translation>Vergleich</translation>
        </message>
        <message>
            <source>Omissions</source>
            <translation>Auslassungen</translation>
        </message>
        <message>
            <source>Replay's leaf</source>
            <translation>Blatt der Nachrechnung</translation>
        </message>
        <message>
            <source>Replay's loss</source>
            <translation>Verlust der Nachrechnung</translation>
        </message>
        <message>
            <source>Seconds</source>
            <translation>Sekunden</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>Schritt</translation>
        </message>
        <message>
            <source>Trainer's leaf</source>
            <translation>Blatt des Trainers</translation>
        </message>
        <message>
            <source>Trainer's loss</source>
            <translation>Verlust des Trainers</translation>
        </message>
        <message>
            <source>should be 0</source>
            <translation>sollte 0 sein</translation>
        </message>
    </context>
    <context>
        <name>text</name>
        <message>
            <source>about {0} of memory, {1} billion operations</source>
            <translation>etwa {0} Speicher, {1} Milliarden Operationen</translation>
        </message>
        <message>
            <source>infinite</source>
            <translation>unendlich</translation>
        </message>
        <message>
            <source>initial state</source>
            <translation>Anfangszustand</translation>
        </message>
        <message>
            <source>minus infinite</source>
            <translation>minus unendlich</translation>
        </message>
        <message>
            <source>not a number</source>
            <translation>keine Zahl</translation>
        </message>
        <message>
            <source>scalar</source>
            <translation>Skalar</translation>
        </message>
        <message>
            <source>step {0}</source>
            <translation>Schritt {0}</translation>
        </message>
        <message>
            <source>steps {0} to {1}</source>
            <translation>Schritte {0} bis {1}</translation>
        </message>
        <message>
            <source>up to step {0}</source>
            <translation>bis Schritt {0}</translation>
        </message>
        <message>
            <source>{0} s/step</source>
            <translation>{0} s/Schritt</translation>
        </message>
        <message>
            <source>{0} steps/s</source>
            <translation>{0} Schritte/s</translation>
        </message>
    </context>
    <context>
        <name>words</name>
        <message>
            <source>CONFIRMED: the auditor is right</source>
            <translation>CONFIRMED: Der Prüfer hat recht</translation>
        </message>
        <message>
            <source>CPU capability</source>
            <translation>CPU-Befehlssatz</translation>
        </message>
        <message>
            <source>Kept: {0}. Resume goes on from there.</source>
            <translation>Aufbewahrt: {0}. „Fortsetzen“ macht dort weiter.</translation>
        </message>
        <message>
            <source>REJECTED: the trainer is right</source>
            <translation>REJECTED: Der Trainer hat recht</translation>
        </message>
        <message>
            <source>Revoked from {0} on ({1}): “{2}”.</source>
            <translation>Widerrufen ab {0} ({1}): „{2}“.</translation>
        </message>
        <message>
            <source>a client</source>
            <translation>Auftraggeber</translation>
        </message>
        <message>
            <source>a random sample of {0} segments</source>
            <translation>eine zufällige Stichprobe von {0} Segmenten</translation>
        </message>
        <message>
            <source>a random sample that finds a run with {0} % of bad segments with a probability of {1} %</source>
            <translation>eine zufällige Stichprobe, die einen Lauf mit {0} % schlechten Segmenten mit einer Wahrscheinlichkeit von {1} % findet</translation>
        </message>
        <message>
            <source>a trainer</source>
            <translation>Trainer</translation>
        </message>
        <message>
            <source>accepted by the trainer</source>
            <translation>vom Trainer angenommen</translation>
        </message>
        <message>
            <source>accepted by the trainer on {0}, as the trainer says</source>
            <translation>vom Trainer angenommen am {0}, wie der Trainer sagt</translation>
        </message>
        <message>
            <source>an auditor</source>
            <translation>Prüfer</translation>
        </message>
        <message>
            <source>backward</source>
            <translation>rückwärts</translation>
        </message>
        <message>
            <source>being checked</source>
            <translation>wird geprüft</translation>
        </message>
        <message>
            <source>combination</source>
            <translation>Zusammenführung</translation>
        </message>
        <message>
            <source>compared with the client's own file</source>
            <translation>mit der eigenen Datei des Auftraggebers verglichen</translation>
        </message>
        <message>
            <source>deterministic algorithms</source>
            <translation>deterministische Verfahren</translation>
        </message>
        <message>
            <source>device</source>
            <translation>Gerät</translation>
        </message>
        <message>
            <source>different</source>
            <translation>verschieden</translation>
        </message>
        <message>
            <source>disputed</source>
            <translation>strittig</translation>
        </message>
        <message>
            <source>equal</source>
            <translation>gleich</translation>
        </message>
        <message>
            <source>error</source>
            <translation>Fehler</translation>
        </message>
        <message>
            <source>failed</source>
            <translation>nicht bestanden</translation>
        </message>
        <message>
            <source>fingerprints</source>
            <translation>Fingerabdrücke</translation>
        </message>
        <message>
            <source>forward</source>
            <translation>vorwärts</translation>
        </message>
        <message>
            <source>in part</source>
            <translation>teilweise</translation>
        </message>
        <message>
            <source>inconclusive</source>
            <translation>ohne Ergebnis</translation>
        </message>
        <message>
            <source>known</source>
            <translation>bekannt</translation>
        </message>
        <message>
            <source>log</source>
            <translation>Protokoll</translation>
        </message>
        <message>
            <source>loss</source>
            <translation>Verlust</translation>
        </message>
        <message>
            <source>match</source>
            <translation>stimmt überein</translation>
        </message>
        <message>
            <source>match, suspicious log</source>
            <translation>stimmt überein, verdächtiges Protokoll</translation>
        </message>
        <message>
            <source>mismatch</source>
            <translation>weicht ab</translation>
        </message>
        <message>
            <source>name of the device</source>
            <translation>Name des Geräts</translation>
        </message>
        <message>
            <source>no longer used</source>
            <translation>nicht mehr verwendet</translation>
        </message>
        <message>
            <source>no name yet</source>
            <translation>noch ohne Namen</translation>
        </message>
        <message>
            <source>no result</source>
            <translation>kein Ergebnis</translation>
        </message>
        <message>
            <source>not accepted</source>
            <translation>nicht angenommen</translation>
        </message>
        <message>
            <source>not chosen</source>
            <translation>nicht gewählt</translation>
        </message>
        <message>
            <source>not compared</source>
            <translation>nicht verglichen</translation>
        </message>
        <message>
            <source>not compared with anybody's order</source>
            <translation>mit niemandes Auftrag verglichen</translation>
        </message>
        <message>
            <source>not reached</source>
            <translation>nicht erreicht</translation>
        </message>
        <message>
            <source>not replayed</source>
            <translation>nicht nachgerechnet</translation>
        </message>
        <message>
            <source>not yet checked</source>
            <translation>noch nicht geprüft</translation>
        </message>
        <message>
            <source>operating system</source>
            <translation>Betriebssystem</translation>
        </message>
        <message>
            <source>passed</source>
            <translation>bestanden</translation>
        </message>
        <message>
            <source>passed, with a remark</source>
            <translation>bestanden, mit einer Bemerkung</translation>
        </message>
        <message>
            <source>refused</source>
            <translation>abgelehnt</translation>
        </message>
        <message>
            <source>result</source>
            <translation>Ergebnis</translation>
        </message>
        <message>
            <source>revoked</source>
            <translation>widerrufen</translation>
        </message>
        <message>
            <source>share {0}</source>
            <translation>Anteil {0}</translation>
        </message>
        <message>
            <source>shares</source>
            <translation>Anteile</translation>
        </message>
        <message>
            <source>signed by {0}, {1}</source>
            <translation>unterschrieben von {0} ({1})</translation>
        </message>
        <message>
            <source>signed with a key that you do not know</source>
            <translation>unterschrieben mit einem Schlüssel, den Sie nicht kennen</translation>
        </message>
        <message>
            <source>signed with the client's key, which was given</source>
            <translation>mit dem Schlüssel des Auftraggebers unterschrieben, der angegeben wurde</translation>
        </message>
        <message>
            <source>somebody else has it, or may have it</source>
            <translation>jemand anders hat ihn oder könnte ihn haben</translation>
        </message>
        <message>
            <source>state</source>
            <translation>Zustand</translation>
        </message>
        <message>
            <source>step {0} of {1}, replayed from the state after step {2}</source>
            <translation>Schritt {0} von {1}, nachgerechnet vom Zustand nach Schritt {2} aus</translation>
        </message>
        <message>
            <source>taken from the bundle; not compared with the client's own file</source>
            <translation>aus dem Bündel genommen; mit der eigenen Datei des Auftraggebers nicht verglichen</translation>
        </message>
        <message>
            <source>the segments {0}</source>
            <translation>die Segmente {0}</translation>
        </message>
        <message>
            <source>the whole run</source>
            <translation>alle Schritte</translation>
        </message>
        <message>
            <source>threads</source>
            <translation>Threads</translation>
        </message>
        <message>
            <source>unjudged</source>
            <translation>nicht beurteilt</translation>
        </message>
        <message>
            <source>unsigned</source>
            <translation>ohne Unterschrift</translation>
        </message>
        <message>
            <source>update</source>
            <translation>Aktualisierung</translation>
        </message>
        <message>
            <source>verified</source>
            <translation>bestätigt</translation>
        </message>
        <message>
            <source>yourself</source>
            <translation>Sie selbst</translation>
        </message>
        <message>
            <source>{0} for {1} of {2} segments</source>
            <translation>{0} für {1} von {2} Segmenten</translation>
        </message>
        <message>
            <source>{0} of {1} elements were computed exactly. The error bound is {2}.</source>
            <translation>{0} von {1} Elementen wurden exakt berechnet. Die Fehlerschranke ist {2}.</translation>
        </message>
        <message>
            <source>{0} of {1} elements were computed in integers. Every machine must have these bits.</source>
            <translation>{0} von {1} Elementen wurden in ganzen Zahlen berechnet. Jeder Rechner muss diese Bits haben.</translation>
        </message>
        <message>
            <source>{0} of {1} ordered</source>
            <translation>{0} (von {1} bestellten)</translation>
        </message>
        <message>
            <source>{0} ordered, {1} judged</source>
            <translation>{0} bestellt, {1} beurteilt</translation>
        </message>
        <message>
            <source>{0} ordered, {1} recorded, {2} judged</source>
            <translation>{0} bestellt, {1} aufgezeichnet, {2} beurteilt</translation>
        </message>
        <message>
            <source>{0}, on {1}, as the signature says</source>
            <translation>{0}, am {1}, wie die Unterschrift sagt</translation>
        </message>
        <message>
            <source>{0}, {1} of {2} ordered steps</source>
            <translation>{0}, {1} von {2} bestellten Schritten</translation>
        </message>
    </context>
</TS>
